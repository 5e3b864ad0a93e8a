"""
Few columns, or a safe choice
=============================

Four column methods are offered the thirty measurements of a tumour, one after the other. Some keep very few, some keep
more; all drop columns again when a better one comes.
"""

from bokeh.plotting import figure, show

from streamsift import OFSA3M, SAOLA, FastOSFS, Investing, datasets

data = datasets.load_breast_cancer()
X = data.X.to_pandas().to_numpy()
chart = figure(height=320, sizing_mode="stretch_width", x_axis_label="columns offered", y_axis_label="columns kept")
methods = {"Investing (LORD)": Investing("lord"), "FastOSFS": FastOSFS(), "SAOLA": SAOLA(), "OFSA3M": OFSA3M()}
for (name, selector), colour in zip(methods.items(), ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"], strict=True):
    y = (data.y == "malignant").astype(float) if "Investing" in name else data.y
    selector.begin(y)
    sizes = []
    for place, column in enumerate(data.feature_names):
        selector.offer(X[:, place], name=column)
        sizes.append(len(selector.selected_))
    print(f"{name}: {len(selector.selected_)} kept, {', '.join(selector.selected_[:4])} ...")
    chart.step(list(range(1, 31)), sizes, line_width=2, color=colour, legend_label=name, mode="after")

# %%
# The number of columns kept, as they are offered.

chart.legend.location = "top_left"
show(chart)
