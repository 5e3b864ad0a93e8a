"""
A feature arrives late
======================

A new sensor is installed while the stream runs. By default a batch with another column is refused by name; with
``new_features="add"`` the newcomer gets a slot and is judged from its first row on.
"""

from bokeh.plotting import figure, show

from streamsift import InputError, Screener, datasets

data = datasets.load_sensors()
frame = data.X.to_pandas()[["vibration_1", "temperature_1", "quiet_1", "quiet_2"]]
old = frame.drop(columns="vibration_1")  # the sensor that tells most is not there yet

try:
    Screener("fisher", missing="skip").partial_fit(old[:500], data.y[:500]).partial_fit(frame[500:], data.y[500:])
except InputError as error:
    print(error)

# %%
# With ``new_features="add"`` it is first as soon as it has been seen.

selector = Screener("fisher", n_features_to_select=1, missing="skip", new_features="add")
rows, scores = [], []
for start in range(0, 2000, 100):
    part = (old if start < 500 else frame)[start : start + 100]
    selector.partial_fit(part, data.y[start : start + 100])
    rows.append(selector.n_rows_seen_)
    scores.append(dict(zip(selector.feature_names_in_, selector.scores_, strict=True)))
for step in (4, 5):
    print(rows[step], {name: round(float(score), 3) for name, score in scores[step].items()})

chart = figure(height=300, sizing_mode="stretch_width", x_axis_label="rows seen", y_axis_label="score")
for name, colour in zip(frame.columns, ["#d62728", "#1f77b4", "#bbbbbb", "#dddddd"], strict=True):
    known = [(row, step[name]) for row, step in zip(rows, scores, strict=True) if name in step]
    chart.line(*zip(*known, strict=True), line_width=2, color=colour, legend_label=name)
show(chart)
