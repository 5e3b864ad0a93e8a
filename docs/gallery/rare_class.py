"""
A rare class
============

Two payments in a hundred are fraud. Always saying "no" has an accuracy of 98 %, so accuracy says nothing here: look at
kappa and balanced accuracy. Three features out of fifteen are enough to predict as well as with all of them.
"""

from bokeh.plotting import figure, show

from streamsift import Screener, datasets, prequential

data = datasets.load_transactions()
runs = {
    "3 selected features": Screener("mutual_info", n_features_to_select=3),
    "all 15 features": None,
}
chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="rows seen", y_axis_label="balanced accuracy")
for (name, selector), colour in zip(runs.items(), ["#1f77b4", "#888888"], strict=True):
    trace = prequential(data.stream(), selector, "naive_bayes", batch_size=500)
    result = trace.summary()
    print(f"{name}: accuracy {result['accuracy']:.3f}, balanced {result['balanced_accuracy']:.3f}", end=", ")
    print(f"kappa {result['kappa']:.3f}")
    chart.line(trace.column("row"), trace.column("balanced_accuracy"), line_width=2, color=colour, legend_label=name)

# %%
# Predictions are made before the label is learnt, batch after batch.

chart.legend.location = "bottom_right"
show(chart)
