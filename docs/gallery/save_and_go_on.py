"""
Save, load, go on
=================

A selector is saved as one file of named arrays, without pickle. Loaded, it goes on as if nothing had happened.
"""

import tempfile
from pathlib import Path

import numpy as np
from bokeh.plotting import figure, show

from streamsift import Screener, datasets, load, save

data = datasets.load_sensors()
undisturbed = Screener("fisher", n_features_to_select=3, missing="skip", half_life=500)
batches = list(data.stream().batches(500))
for batch in batches:
    undisturbed.partial_fit(batch)

first = Screener("fisher", n_features_to_select=3, missing="skip", half_life=500)
for batch in batches[:4]:
    first.partial_fit(batch)
path = Path(tempfile.mkdtemp()) / "monday.streamsift"
save(first, path)
print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB after {first.n_rows_seen_} rows")

resumed = load(path)
for batch in batches[4:]:
    resumed.partial_fit(batch)
print("the same to the last bit:", np.array_equal(resumed.scores_, undisturbed.scores_), resumed.selected_)

# %%
# The scores of both, one over the other.

chart = figure(x_range=list(data.feature_names), height=320, sizing_mode="stretch_width", y_axis_label="score")
chart.vbar(x=list(data.feature_names), top=undisturbed.scores_, width=0.8, color="#cccccc", legend_label="undisturbed")
chart.vbar(x=list(data.feature_names), top=resumed.scores_, width=0.4, color="#1f77b4", legend_label="saved and loaded")
chart.xaxis.major_label_orientation = 1.2
show(chart)
