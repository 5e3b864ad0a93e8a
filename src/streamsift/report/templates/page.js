// Unpacks the page, draws the charts, and paints them with the style sheet's colours, again whenever those change.
const unpack = async () => {
  const packed = bytesOf(document.getElementById("pack").textContent);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};

const colourOf = (role) => getComputedStyle(document.documentElement).getPropertyValue("--" + role).trim();

// A palette between the stops --heat-0 to --heat-4.
const heatPalette = (length) => {
  const stops = [0, 1, 2, 3, 4].map((k) => colourOf("heat-" + k).match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16)));
  return Array.from({length}, (_, k) => {
    const place = k / (length - 1) * 4, left = Math.min(Math.floor(place), 3), share = place - left;
    const mixed = stops[left].map((value, c) => Math.round(value + share * (stops[left + 1][c] - value)));
    return "#" + mixed.map((value) => value.toString(16).padStart(2, "0")).join("");
  });
};

const paint = (chart) => {
  for (const [id, properties] of Object.entries(chart.paint)) {
    const model = chart.document.get_model_by_id(id);
    const values = Object.entries(properties).map(([name, role]) =>
      [name, name === "palette" ? heatPalette(model.palette.length) : colourOf(role)]);
    model.setv(Object.fromEntries(values));
  }
};

// Paper does not wait for the frame in which bokeh would draw new colours: of what `set_visuals` does, the part that
// matters is done before it first waits.
const drawNow = (view) => {
  for (const part of view.all_renderer_views) part.set_visuals?.();
  view.repaint();
};

const draw = async (figures, charts) => {
  const roots = Object.fromEntries(charts.map(({figure, place}) => [figure, place]));
  const item = {docid: "figures", roots, root_ids: Object.keys(roots)};
  await Bokeh.embed.embed_items({figures}, [item]);
  for (const chart of charts) {
    chart.document = Bokeh.documents.at(-1);
    chart.model = chart.document.get_model_by_id(chart.figure);
  }
  charts.forEach(paint);
  for (const chart of charts) skipCanvas(document.getElementById(chart.place));
};

// Bokeh puts its canvas among the stops of the Tab key, where it is not seen and answers to nothing.
const skipCanvas = (part) => {
  for (const node of part.querySelectorAll("*")) {
    if (node.classList.contains("bk-events")) node.tabIndex = -1;
    if (node.shadowRoot) skipCanvas(node.shadowRoot);
  }
};

// Clicks on lanes open their feature; over a heat map our own tip says what is there.
const listen = (chart, grids, view) => {
  const laneAt = (event) => {
    const lane = Math.round(event.y);
    return lane >= 0 && lane < chart.lanes.length && event.x >= 0 ? lane : null;
  };
  const tap = (event) => {
    const lane = laneAt(event);
    if (lane !== null) view.open(chart.grid, chart.lanes[lane]);
  };
  const callbacks = new Map([["tap", [tap]]]);
  const place = document.getElementById(chart.place), tip = document.getElementById("tip");
  place.classList.add("clickable");
  if (chart.heat) {
    const grid = grids[chart.grid];
    const hide = () => { tip.hidden = true; };
    const move = (event) => {
      const lane = laneAt(event);
      if (lane === null || event.x > grid.rows.at(-1)) return hide();
      const feature = chart.lanes[lane], step = grid.snapshotAt(event.x), score = grid.score(feature, step);
      const selected = grid.flag(grid.held, feature, step) ? ", selected" : "";
      const words = score === null ? "no score" : "score " + numberText(score);
      tip.textContent = `${grid.features[feature].name}\nrow ${grid.rows[step].toLocaleString("en")}: ${words}${selected}`;
      tip.hidden = false;
      const box = place.getBoundingClientRect(), left = box.left + event.sx + 14;
      tip.style.left = Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 8)) + scrollX + "px";
      tip.style.top = box.top + event.sy + 16 + scrollY + "px";
    };
    callbacks.set("mousemove", [move]).set("mouseleave", [hide]);
    place.addEventListener("pointerleave", hide);
  }
  chart.model.setv({js_event_callbacks: callbacks});
};

const start = async () => {
  startSorting();
  startContents();
  startCopying();
  const pack = await unpack();
  if (pack.charts.length === 0) return;
  document.head.append(Object.assign(document.createElement("script"), {textContent: pack.library}));
  const grids = pack.grids.map((grid) => new Grid(grid));
  const view = grids.length ? new FeatureView(grids, pack.single, () => draw(pack.single_figures, pack.single)) : null;
  await draw(pack.figures, pack.charts);
  for (const chart of pack.charts) {
    if (chart.grid !== null && chart.lanes.length) listen(chart, grids, view);
    if (chart.zooms) startHeat(chart);
    if (chart.labels) keepLabelsPlaced(chart.model);
  }
  const all = [...pack.single, ...pack.charts];
  for (const button of document.querySelectorAll("button.csv")) {
    const chart = all.find(({place}) => place === button.dataset.chart);
    button.addEventListener("click", () =>
      download(chart.file, chart.heat ? grids[chart.grid].columns(chart.lanes) : chart.data));
  }
  const base = (chart) => chart.file.replace(/\.csv$/, "");
  for (const button of document.querySelectorAll("button.picture")) {
    const chart = all.find(({place}) => place === button.dataset.chart), kind = button.dataset.kind;
    button.addEventListener("click", () =>
      save(`${base(chart)}.${kind}`, pictureOf(chart.model, kind, colourOf("paper"), wordsOf(chart.place))));
  }
  const wanted = /^#export=(svg|png)$/.exec(location.hash);
  if (wanted) {
    await new Promise((done) => setTimeout(done, 500)); // bokeh takes new colours over only by and by
    const seen = {};
    const named = pack.charts.map((chart) => {
      const count = seen[base(chart)] = (seen[base(chart)] ?? 0) + 1;
      return [base(chart) + (count > 1 ? `-${count}` : ""), chart.model, wordsOf(chart.place)];
    });
    return writeOut(named, wanted[1], colourOf("paper"));
  }
  const repaint = () => all.filter((chart) => chart.model).forEach(paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", () => {
    repaint();
    pack.charts.forEach(({model}) => drawNow(Bokeh.index.get_by_id(model.id)));
  });
  document.body.dataset.drawn = String(Math.round(performance.now())); // milliseconds since the page was opened
};

start().catch((error) => {
  const trouble = document.getElementById("trouble");
  trouble.textContent = "The charts cannot be drawn in this browser; the tables hold the final numbers. A browser from 2023 or later draws them.";
  trouble.hidden = false;
  throw error;
});
