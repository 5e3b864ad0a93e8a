"""
Columns without end, and a budget
=================================

``Investing`` bids for each column as it is offered. A column that improves the model pays for looking at more of them;
one that does not costs its bid. So there is no limit to the number of columns, and an account of every decision.
"""

import numpy as np
from bokeh.plotting import figure, show

from streamsift import Investing

rng = np.random.default_rng(0)
columns = rng.normal(size=(500, 300))
useful = [10, 40, 45, 120, 260]
y = columns[:, useful] @ np.array([1.0, 1.0, -1.0, 0.8, 0.8]) + rng.normal(size=500)

selector = Investing().begin(y)
decisions = [selector.offer(columns[:, k], name=f"column {k}") for k in range(300)]
accepted = [k for k, decision in enumerate(decisions) if decision.accepted]
print("accepted:", accepted)
print(decisions[40])

# %%
# The wealth after each column; dots are acceptances.

wealth = [decision.wealth for decision in decisions]
chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="columns offered", y_axis_label="wealth (bits)")
chart.line(list(range(300)), wealth, line_width=2)
chart.scatter(accepted, [wealth[k] for k in accepted], size=9, color="#d62728")
show(chart)
