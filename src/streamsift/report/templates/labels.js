// Puts the labels of a scatter where they meet neither each other nor a dot: the long text where there is room, else
// the short one, else none. `plot` is a bokeh figure with a source named "labels"; the most important labels come first.
const placeLabels = (plot) => {
  const source = plot.select_one("labels"), {x, y, long, short} = source.data;
  const width = plot.inner_width, height = plot.inner_height, radius = 6, gap = 4, tall = 15;
  if (!width || !height) return;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px " + getComputedStyle(document.body).fontFamily;
  const scale = (value, range, length) => (value - range.start) / (range.end - range.start) * length;
  const dots = Array.from(x, (_, k) => [scale(x[k], plot.x_range, width), height - scale(y[k], plot.y_range, height)]);
  const taken = dots.map(([px, py]) => [px - radius - 1, py - radius - 1, px + radius + 1, py + radius + 1]);
  const free = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height &&
    taken.every((other) => box[2] <= other[0] || box[0] >= other[2] || box[3] <= other[1] || box[1] >= other[3]);
  const text = [], dx = [], dy = [];
  dots.forEach(([px, py], k) => {
    const near = radius + gap;
    let found = null;
    for (const words of [long[k], short[k]]) {
      const wide = pen.measureText(words).width + 2;
      const offsets = [[near, 0], [-near - wide, 0], [-wide / 2, -near - 6], [-wide / 2, near + 6],
        [near, -12], [near, 12], [-near - wide, -12], [-near - wide, 12], [near, -22], [near, 22]];
      const place = offsets.find(([a, b]) => free([px + a, py + b - tall / 2, px + a + wide, py + b + tall / 2]));
      if (place === undefined) continue;
      found = [words, ...place];
      taken.push([px + place[0], py + place[1] - tall / 2, px + place[0] + wide, py + place[1] + tall / 2]);
      break;
    }
    text.push(found === null ? "" : found[0]);
    dx.push(found === null ? 0 : found[1]);
    dy.push(found === null ? 0 : found[2]);
  });
  source.data = {...source.data, text, dx, dy};
};

const keepLabelsPlaced = (plot) => {
  plot.properties.inner_width.change.connect(() => placeLabels(plot));
  placeLabels(plot);
};
