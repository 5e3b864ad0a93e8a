"""
One patient, step by step
=========================

Why did the classifier stop after these values? ``explain`` tells what was bought, in which order, and what was believed
after each.
"""

import numpy as np
from bokeh.plotting import show

from streamsift import ETANA, datasets

data = datasets.load_clinic()
X, y = data.X.to_pandas(), data.y
model = ETANA(feature_cost=np.array([data.prices[name] for name in data.feature_names])).fit(X, y)
explanation = model.explain(X.to_numpy()[7])
print(explanation)

# %%
# What is believed of each class after each value.

show(explanation.plot())
