// A heat map of many lines: as many names beside it as have room, and a zoom into its lines by dragging over them, by
// the buttons below it, or by the wheel with Ctrl. `plot` is the bokeh figure; line 0 is on top.
const ROOM = 15, FEWEST = 6; // pixels of a name, and lines at the closest

const heatLines = (plot) => [Math.min(plot.y_range.start, plot.y_range.end), Math.max(plot.y_range.start, plot.y_range.end)];

const nameLines = (plot, count) => {
  const [top, bottom] = heatLines(plot);
  const step = Math.max(1, Math.ceil((bottom - top) * ROOM / (plot.inner_height || plot.height)));
  const first = Math.max(0, Math.ceil(top)), last = Math.min(count - 1, Math.floor(bottom)), ticks = [];
  for (let line = first; line <= last; line++) if (line % step === 0) ticks.push(line);
  plot.left.find((part) => part.ticker).ticker.ticks = ticks;
};

// Shows `size` lines around `middle`, as far as there are so many.
const showLines = (plot, count, middle, size) => {
  const shown = Math.min(Math.max(size, Math.min(FEWEST, count)), count);
  const top = Math.min(Math.max(middle - shown / 2, -0.5), count - 0.5 - shown);
  plot.y_range.setv({start: top + shown, end: top});
};

const startHeat = (chart) => {
  const plot = chart.model, count = chart.lanes.length, place = document.getElementById(chart.place);
  const buttons = [...document.querySelectorAll(`button.zoom[data-chart="${chart.place}"]`)];
  let under = null; // the line under the mouse
  const change = (way, middle = null) => {
    const [top, bottom] = heatLines(plot), size = bottom - top, here = middle ?? (top + bottom) / 2;
    const share = (here - top) / size; // what is under the mouse stays there
    const [factor, shift] = {in: [0.5, 0], out: [2, 0], up: [1, -0.5], down: [1, 0.5], all: [Infinity, 0]}[way];
    const next = Math.min(Math.max(size * factor, Math.min(FEWEST, count)), count);
    showLines(plot, count, here + (0.5 - share) * next + shift * size, next);
  };
  const follow = () => {
    nameLines(plot, count);
    const [top, bottom] = heatLines(plot), whole = bottom - top >= count - 1e-6;
    for (const button of buttons) button.disabled = whole && button.dataset.way !== "in";
    place.dataset.lines = `${Math.max(0, Math.ceil(top))}-${Math.min(count - 1, Math.floor(bottom))}`;
  };
  for (const button of buttons) button.addEventListener("click", () => change(button.dataset.way));
  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    change(event.deltaY < 0 ? "in" : "out", under);
  }, {passive: false});
  plot.js_event_callbacks.get("mousemove")?.push((event) => { under = event.y; });
  for (const property of ["start", "end"]) plot.y_range.properties[property].change.connect(follow);
  plot.properties.inner_height.change.connect(follow);
  const drag = plot.toolbar.tools.find((tool) => tool.type === "BoxZoomTool");
  if (drag && matchMedia("(pointer: fine)").matches) drag.active = true; // a finger scrolls the page
  follow();
};
