"""
Scores over time
================

A row selector can be asked at any moment. Here its scores are noted after every 200 visits of a shop, so that one sees
which feature takes over when a sale begins half way.
"""

from bokeh.plotting import figure, show

from streamsift import Screener, datasets

data = datasets.load_clicks()
selector = Screener("fisher", half_life=500)
rows, scores = [], []
for batch in data.stream().batches(200):
    selector.partial_fit(batch)
    rows.append(selector.n_rows_seen_)
    scores.append(selector.scores_)

print("best three at the end:", selector.selected_[:3])

# %%
# Fisher's score is the variance between the classes over the variance within them. Features that tell nothing stay
# near zero; `visits` falls as the rows from before the sale fade, and `discount` rises.

chart = figure(height=320, sizing_mode="stretch_width", x_axis_label="rows seen", y_axis_label="score")
colours = {"visits": "#d62728", "cart": "#1f77b4", "discount": "#2ca02c"}
for place, name in enumerate(data.feature_names):
    chart.line(rows, [step[place] for step in scores], color=colours.get(name, "#cccccc"), line_width=2)
for name, colour in colours.items():
    place = data.feature_names.index(name)
    chart.text([rows[-1]], [scores[-1][place]], [name], color=colour, text_align="right", text_baseline="bottom")
show(chart)
