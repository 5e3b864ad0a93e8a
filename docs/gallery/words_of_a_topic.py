"""
Text and sparse rows
====================

Words become columns of a sparse matrix, three thousand of them. A screen reads sparse rows as they are and finds the
words that tell the topic of a message.
"""

import numpy as np
from bokeh.plotting import figure, show
from sklearn.feature_extraction.text import CountVectorizer

from streamsift import Screener, datasets

data = datasets.load_messages()
texts = data.table.column("text").to_pylist()
words = CountVectorizer().fit(texts)
names = words.get_feature_names_out()

selector = Screener("t_score", n_features_to_select=24)
for start in range(0, data.n_rows, 250):
    X = words.transform(texts[start : start + 250])  # scipy CSR
    selector.partial_fit(X, data.y[start : start + 250])
order = np.argsort(-selector.scores_)
best = [str(names[k]) for k in order[:12]]
print(f"{X.shape[1]} words; the best: {', '.join(best)}")

# %%
# The 24 words of the three topics have scores of their own; after them comes a long tail that tells nothing.

chart = figure(height=280, sizing_mode="stretch_width", x_axis_label="rank of the word", y_axis_label="t-score")
chart.vbar(x=list(range(1, 61)), top=selector.scores_[order[:60]], width=0.8, color=["#1f77b4"] * 24 + ["#cccccc"] * 36)
show(chart)
