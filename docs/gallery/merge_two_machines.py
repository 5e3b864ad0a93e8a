"""
Four machines, one selection
============================

Each of four workers reads a part of the rows. Merged, their selectors are what one selector would be that has read
everything, but for the last digits of a sum.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import Screener, datasets

data = datasets.load_breast_cancer()
workers = [Screener("fisher", n_features_to_select=5) for _ in range(4)]
for number, worker in enumerate(workers):
    rows = np.arange(number, data.n_rows, 4)
    worker.partial_fit(data.X.take(rows), data.y[rows])

merged = workers[0]
for worker in workers[1:]:
    merged.merge(worker)
alone = Screener("fisher", n_features_to_select=5).fit(data.X, data.y)
print("rows:", merged.n_rows_seen_, "same selection:", merged.selected_ == alone.selected_)
print("largest difference of a score:", f"{np.max(np.abs(merged.scores_ / alone.scores_ - 1)):.0e}")

# %%
# Scores of the merged selector against those of one pass.

chart = figure(height=320, sizing_mode="stretch_width", x_axis_label="one pass", y_axis_label="merged")
chart.line([0, max(alone.scores_)], [0, max(alone.scores_)], color="#cccccc")
chart.scatter(alone.scores_, merged.scores_, size=8)
show(chart)
