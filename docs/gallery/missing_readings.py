"""
Missing values
==============

NaN is refused with its row and column, so that nothing is guessed. With ``missing="skip"`` a value that is missing is
not counted for its feature, and the rest of its row is.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import InputError, Screener, datasets

data = datasets.load_sensors()
table, y = data.X.slice(0, 400), data.y[:400]  # before the repair
try:
    Screener("fisher").fit(table, y)
except InputError as error:
    print(error)

# %%
# How much may be missing? From 400 rows, readings are removed at random; the selection holds for a long time.

rng = np.random.default_rng(0)
X = table.to_pandas().to_numpy()
shares, kept = [0.02, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98], []
complete = set(Screener("fisher", n_features_to_select=3, missing="skip").fit(X, y).get_support(indices=True))
for share in shares:
    holes = np.where(rng.random(X.shape) < share, np.nan, X)
    selector = Screener("fisher", n_features_to_select=3, missing="skip").fit(holes, y)
    kept.append(len(complete & set(selector.get_support(indices=True))))
print(dict(zip(shares, kept, strict=True)))

chart = figure(height=280, sizing_mode="stretch_width", x_axis_label="share missing", y_axis_label="of three, the same")
chart.line(shares, kept, line_width=2)
chart.scatter(shares, kept, size=9)
chart.y_range.start = 0
show(chart)
