"""
Importance and uncertainty
==========================

FIRES ranks features by the weight a model gives them, less how uncertain that weight is. Both can be looked at. Steps
are longer here than the default, so that 569 rows are enough to become more certain of some weights than of others.
"""

import numpy as np
from bokeh.models import Whisker
from bokeh.models.sources import ColumnDataSource
from bokeh.plotting import figure, show

from streamsift import FIRES, datasets

data = datasets.load_breast_cancer()
selector = FIRES(n_features_to_select=5, learning_rate_mu=1.0, learning_rate_sigma=1.0, epochs=10)
for start in range(0, data.n_rows, 25):
    selector.partial_fit(data.X.slice(start, 25), data.y[start : start + 25])
print(selector.selected_)

# %%
# The ten features with the best scores: the weight of each, and one standard deviation to both sides. Above zero, large
# values speak for a malignant tumour.

order = np.argsort(selector.scores_)[-10:]
names = [data.feature_names[k] for k in order]
mean, spread = selector.importance_[order], selector.uncertainty_[order]
source = ColumnDataSource({"name": names, "mean": mean, "low": mean - spread, "high": mean + spread})
ends = (min(mean - spread), max(mean + spread))
chart = figure(x_range=ends, y_range=names, height=340, sizing_mode="stretch_width", x_axis_label="weight")
chart.add_layout(Whisker(base="name", lower="low", upper="high", source=source, dimension="width"))
chart.scatter("mean", "name", source=source, size=9)
show(chart)
