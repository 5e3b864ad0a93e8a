"""
Which pixels tell the digit?
============================

Four methods choose 16 of the 64 pixels of handwritten digits. Those that score pixels one by one take neighbours;
``Joint`` spreads out a little. Naive Bayes does about as well with either.
"""

import numpy as np
from bokeh.layouts import gridplot
from bokeh.palettes import Greys256
from bokeh.plotting import figure, show
from sklearn.naive_bayes import GaussianNB

from streamsift import FIRES, Joint, Screener, datasets

data = datasets.load_digits()
X, y = data.X.to_pandas().to_numpy(), data.y
methods = {
    "Screener, Fisher": Screener("fisher", n_features_to_select=16),
    "Screener, mutual information": Screener("mutual_info", n_features_to_select=16),
    "Joint, forward": Joint(n_features_to_select=16),
    "FIRES": FIRES(n_features_to_select=16, random_state=0),
}
charts = []
for name, selector in methods.items():
    selector.fit(X[:1200], y[:1200])
    chosen = selector.get_support()
    model = GaussianNB(var_smoothing=1e-2).fit(X[:1200, chosen], y[:1200])
    print(f"{name}: {model.score(X[1200:, chosen], y[1200:]):.2f} of the other digits are right")
    chart = figure(width=300, height=300, title=name, toolbar_location=None)
    chart.image([np.flipud(X.mean(axis=0).reshape(8, 8))], x=0, y=0, dw=8, dh=8, palette=Greys256[::-1])
    rows, columns = np.divmod(np.flatnonzero(chosen), 8)
    chart.scatter(columns + 0.5, 7.5 - rows, size=16, marker="square", color="#d62728", alpha=0.8)
    chart.axis.visible = False
    charts.append(chart)

# %%
# Red: the chosen pixels, over the mean of all digits.

show(gridplot(charts, ncols=2, toolbar_location=None, sizing_mode="scale_width"))
