"""
Is it worth it?
===============

``prequential`` tests a learner on the selected features and then trains both, batch after batch, so that every row is
predicted before its label is known.
"""

from bokeh.plotting import figure, show

from streamsift import Screener, datasets, prequential

data = datasets.load_clicks()
runs = {
    "two features, half-life 400": Screener("mutual_info", n_features_to_select=2, half_life=400),
    "two features, no fading": Screener("mutual_info", n_features_to_select=2),
    "all features": None,
}
chart = figure(
    height=320, sizing_mode="stretch_width", x_axis_label="rows seen", y_axis_label="accuracy, last 1,000 rows"
)
for (name, selector), colour in zip(runs.items(), ["#1f77b4", "#d62728", "#999999"], strict=True):
    trace = prequential(data.stream(), selector, "naive_bayes", batch_size=100, window=10)
    result = trace.summary()
    print(
        f"{name}: accuracy {result['accuracy']:.3f}, kappa {result['kappa']:.3f}, {result['n_selected']:.0f} features"
    )
    chart.line(trace.column("row"), trace.column("window_accuracy"), line_width=2, color=colour, legend_label=name)

# %%
# The lines cross where the sale begins and other features decide.

chart.legend.location = "bottom_left"
show(chart)
