"""
Make columns, judge them, forget them
=====================================

All products and powers up to the third degree of 30 columns are 5,455 columns. They are made in blocks, offered and
forgotten: nobody holds the table.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import Investing, make_columns

rng = np.random.default_rng(1)
X = rng.normal(size=(800, 30))
y = X[:, 0] + X[:, 3] ** 2 + X[:, 5] * X[:, 7] + X[:, 1] * X[:, 2] * X[:, 4] + rng.normal(size=800)

made = make_columns(X, "polynomial:3", y)
selector = Investing().run(made)
print(selector.selected_)

# %%
# Least squares on the given columns, and on the accepted ones, judged on rows that were not used.

X_new = rng.normal(size=(2000, 30))
truth = X_new[:, 0] + X_new[:, 3] ** 2 + X_new[:, 5] * X_new[:, 7] + X_new[:, 1] * X_new[:, 2] * X_new[:, 4]
explained = {}
for name, (train, test) in {
    "given": (X, X_new),
    "accepted": (made.columns(selector.selected_, X), made.columns(selector.selected_, X_new)),
}.items():
    design, judged = np.column_stack([np.ones(800), train]), np.column_stack([np.ones(2000), test])
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    explained[f"{name} ({train.shape[1]})"] = 1 - np.var(truth - judged @ weights) / np.var(truth)
print({name: round(float(value), 2) for name, value in explained.items()})

chart = figure(y_range=list(explained), height=200, sizing_mode="stretch_width", x_axis_label="share explained")
chart.hbar(y=list(explained), right=list(explained.values()), height=0.5, color=["#bbbbbb", "#1f77b4"])
show(chart)
