"""
A method that decides how many
==============================

ABFS boosts decision stumps and watches each of them for drift. It says itself how many features it needs, and starts
again where they stop telling. What it takes after the true features are those that happen to split the rows which are
still hard: deciding by itself is no promise to take true ones only.
"""

from bokeh.plotting import figure, show

from streamsift import ABFS, generate

stream = generate("sea", n_rows=12_000, irrelevant=10, drift="abrupt", seed=0)
selector = ABFS(grace_period=200)
rows, sizes, drifts = [], [], []
for batch in stream.batches(200):
    selector.partial_fit(batch)
    rows.append(selector.n_rows_seen_)
    sizes.append(int(selector.get_support().sum()))
    drifts.append(selector.n_drifts_)
print("selected at the end:", selector.selected_, "true:", [stream.feature_names[k] for k in batch.relevant])
print("drifts found:", drifts[-1])

# %%
# The number of selected features; dashed where the true features change.

chart = figure(height=280, sizing_mode="stretch_width", x_axis_label="rows seen", y_axis_label="selected features")
chart.step(rows, sizes, line_width=2, mode="after")
chart.vspan(x=[drift.row for drift in stream.drifts], line_dash="dashed", color="#888888")
show(chart)
