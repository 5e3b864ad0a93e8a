"""
Categories
==========

Columns of text are categories and are counted by name. A column with 200 shops has a large score by chance alone, so
what chance may give is taken off: an identifier is not mistaken for a good feature.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import Screener, datasets

data = datasets.load_transactions()
selector = Screener("mutual_info", n_features_to_select=3).fit(data.X, data.y)
print("selected:", selector.selected_)

# %%
# Grey: the plain mutual information, with chance in it. Blue: the score that decides.

order = np.argsort(selector.scores_)[-8:]
names = [data.feature_names[k] for k in order]
chart = figure(y_range=names, height=320, sizing_mode="stretch_width", x_axis_label="mutual information (nats)")
chart.hbar(y=names, right=selector.criterion_values_[order], height=0.8, color="#cccccc", legend_label="with chance")
chart.hbar(y=names, right=selector.scores_[order], height=0.4, color="#1f77b4", legend_label="score")
chart.legend.location = "bottom_right"
show(chart)
