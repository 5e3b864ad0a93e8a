"""
How many features?
==================

Instead of a number, ask for a bound on false discoveries: ``n_features_to_select="fdr:0.05"`` takes as many features as
a false discovery rate of 5 % allows.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import Screener

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 200))
y = rng.integers(0, 2, 1000)
X[:, :8] += np.linspace(0.2, 0.6, 8) * y[:, np.newaxis]  # eight features tell something, some of them little
selector = Screener("t_score", n_features_to_select="fdr:0.05").fit(X, y)
selected = set(selector.get_support(indices=True))
print(f"{len(selected)} of 200 selected, {len(selected & set(range(8)))} of the 8 true ones among them")

# %%
# The rule (Benjamini and Hochberg): sort the p-values and take all up to the last one below the line.

order = np.argsort(selector.pvalues_)[:40]
colours = ["#1f77b4" if k in selected else "#cccccc" for k in order]
chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="rank", y_axis_label="p-value")
chart.scatter(np.arange(1, 41), selector.pvalues_[order], size=8, color=colours)
chart.line([1, 40], [0.05 / 200, 40 * 0.05 / 200], line_dash="dashed", color="#d62728", legend_label="0.05 rank / 200")
show(chart)
