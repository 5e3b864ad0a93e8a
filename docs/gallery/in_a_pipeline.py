"""
In a scikit-learn pipeline
==========================

Selectors are scikit-learn transformers: they go into a ``Pipeline`` and their parameters into a grid search.
"""

from bokeh.plotting import figure, show
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from streamsift import Joint, Screener, datasets

data = datasets.load_digits()
X, y = data.X.to_pandas()[:600], data.y[:600]
sizes = [4, 8, 16, 32, 64]
chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="pixels", y_axis_label="accuracy, three folds")
for selector, colour in [(Screener("fisher"), "#1f77b4"), (Joint(), "#d62728")]:
    name = type(selector).__name__
    pipeline = make_pipeline(selector, GaussianNB(var_smoothing=1e-2))
    search = GridSearchCV(pipeline, {f"{name.lower()}__n_features_to_select": sizes}, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    print(name, {size: round(float(score), 2) for size, score in zip(sizes, scores, strict=True)})
    chart.line(sizes, scores, line_width=2, color=colour, legend_label=name)
    chart.scatter(sizes, scores, size=8, color=colour)

# %%
# How accurate naive Bayes is on the best k pixels, on digits it has not seen.

chart.legend.location = "bottom_right"
show(chart)
