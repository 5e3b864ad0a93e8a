"""
Follow a drift
==============

A sale begins in the middle of a stream of shop visits. From then on other features decide who buys. A selector that
forgets old rows notices at once; one that counts all rows alike needs as many rows again.
"""

from bokeh.plotting import figure, show

from streamsift import Screener, datasets

data = datasets.load_clicks()
selectors = {
    "half-life of 400 rows": Screener("mutual_info", n_features_to_select=2, half_life=400),
    "all rows count alike": Screener("mutual_info", n_features_to_select=2),
}
found = {name: [] for name in selectors}
rows = []
for batch in data.stream().batches(250):
    rows.append(len(rows) * 250 + 250)
    for name, selector in selectors.items():
        selector.partial_fit(batch)
        hits = set(selector.get_support(indices=True)) & set(batch.relevant)
        found[name].append(len(hits) / len(batch.relevant))

for name, selector in selectors.items():
    late = [row for row, share in zip(rows, found[name], strict=True) if share < 1 and row > data.changes[1].row]
    print(f"{name}: {selector.selected_} at the end; behind until row {max(late, default=data.changes[1].row)}")

# %%
# The dashed line is the beginning of the sale.

chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="rows seen", y_axis_label="true features found")
chart.line(rows, found["half-life of 400 rows"], line_width=3, color="#1f77b4", legend_label="half-life of 400 rows")
chart.line(rows, found["all rows count alike"], line_width=3, color="#d62728", legend_label="all rows count alike")
chart.vspan(x=[data.changes[1].row], line_dash="dashed", color="#888888")
chart.legend.location = "bottom_left"
show(chart)
