"""
Labels that come late
=====================

Whether a payment was fraud is known days after it. ``LateLabels`` keeps each row until its label comes, up to a number
you choose.
"""

from bokeh.plotting import figure, show

from streamsift import LateLabels, Screener, datasets

data = datasets.load_transactions(n_rows=6000)
table, X = data.table, data.X
paid = [(time, "paid", k) for k, time in enumerate(table.column("paid_at").to_pylist())]
reported = [(time, "reported", k) for k, time in enumerate(table.column("reported_at").to_pylist())]

late = LateLabels(Screener("mutual_info", n_features_to_select=3), max_rows=10_000)
days, waiting = [], []
pieces = sorted(paid + reported)
for start in range(0, len(pieces), 200):
    piece = pieces[start : start + 200]
    new = [k for _, what, k in piece if what == "paid"]
    known = [k for _, what, k in piece if what == "reported"]
    if new:
        late.remember(new, X.take(new))
    if known:
        late.learn(known, data.y[known])
    days.append(piece[-1][0] / 86_400)
    waiting.append(late.n_waiting_)
print("selected:", late.selector.selected_, "most rows waiting:", max(waiting))

# %%
# The rows that wait for their label, over the days.

chart = figure(height=280, sizing_mode="stretch_width", x_axis_label="days", y_axis_label="rows that wait")
chart.varea(x=days, y1=[0] * len(days), y2=waiting, color="#1f77b4", alpha=0.4)
show(chart)
