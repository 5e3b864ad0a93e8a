"""
Values at a price
=================

Each examination of a patient costs something, and so does a wrong answer. ETANA buys one value at a time until another
would cost more than it is worth.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import ETANA, datasets

data = datasets.load_clinic()
X, y = data.X.to_pandas().to_numpy(), data.y
prices = np.array([data.prices[name] for name in data.feature_names])

factors, bought, right = [0.1, 0.3, 1.0, 3.0, 10.0], [], []
for factor in factors:
    result = ETANA(feature_cost=factor * prices).fit(X[:1000], y[:1000]).classify(X[1000:])
    bought.append(result.n_evaluated.mean())
    right.append(np.mean(np.asarray(result.labels) == y[1000:]))
    print(f"prices x {factor:g}: {bought[-1]:.1f} of 12 values for each patient, {right[-1]:.0%} right")

# %%
# Dearer examinations, fewer of them: the price of accuracy.

chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="values bought", y_axis_label="share right")
chart.line(bought, right, color="#cccccc")
chart.scatter(bought, right, size=10)
chart.text(
    bought, right, [f"prices x {factor:g}" for factor in factors], x_offset=8, y_offset=14, text_font_size="12px"
)
show(chart)
