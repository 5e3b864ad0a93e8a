"""
Features that say the same
==========================

Two vibration sensors are nearly copies of each other. A screen looks at each feature by itself and takes both; `Joint`
takes a feature for what it adds to those before it.
"""

from bokeh.plotting import figure, show

from streamsift import Joint, Screener, datasets

data = datasets.load_sensors()
X, y = data.X.slice(0, 2000), data.y[:2000]  # before the repair
screen = Screener("fisher", n_features_to_select=3, missing="skip").fit(X, y)
joint = Joint(n_features_to_select=3, missing="skip").fit(X, y)
print("one by one:", screen.selected_)
print("together:  ", joint.selected_)

# %%
# What each feature adds, as a share of what there is to explain: after one vibration sensor, the second adds little.

best = Joint(n_features_to_select=6, missing="skip").fit(X, y)
chart = figure(y_range=best.selected_[::-1], height=280, sizing_mode="stretch_width", x_axis_label="share that it adds")
chart.hbar(y=best.selected_, right=best.path_.gains[:6], height=0.6, color="#1f77b4")
show(chart)
