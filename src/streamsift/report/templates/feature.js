// The grid of a run (grid.py) unpacked, and the view of a single feature: score, rank and when it was selected.
const bytesOf = (text) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
};

const numberText = (value) =>
  value === null ? "–" : value === Infinity ? "∞" : value === -Infinity ? "−∞"
    : Math.abs(value) >= 1000 && Math.abs(value) < 1e12 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));

class Grid {
  constructor(packed) {
    Object.assign(this, packed);
    this.codes = new Uint16Array(bytesOf(packed.scores).buffer);
    this.places = new Uint16Array(bytesOf(packed.ranks).buffer);
    this.held = bytesOf(packed.selected);
    this.true = packed.relevant === null ? null : bytesOf(packed.relevant);
    this.width = Math.ceil(this.rows.length / 8); // bytes of flags a feature
    this.rankRows = this.rows.filter((_, k) => k % this.every === 0);
  }
  score(feature, step) {
    const code = this.codes[feature * this.rows.length + step];
    if (code === 0) return null;
    if (code >= 65534) return code === 65535 ? Infinity : -Infinity;
    const share = (code - 1) / 65532;
    return Number((this.low[feature] * (1 - share) + this.high[feature] * share).toPrecision(5));
  }
  rank(feature, step) {
    return this.places[feature * this.rankRows.length + step] || null;
  }
  flag(flags, feature, step) {
    return (flags[feature * this.width + (step >> 3)] >> (7 - (step & 7)) & 1) === 1;
  }
  snapshotAt(row) { // a snapshot speaks for the rows since the one before it
    let low = 0, high = this.rows.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] < row) low = middle + 1; else high = middle;
    }
    return low;
  }
  intervals(flags, feature) {
    const left = [], right = [];
    for (let step = 0, open = false; step <= this.rows.length; step++) {
      const now = step < this.rows.length && this.flag(flags, feature, step);
      if (now && !open) left.push(step ? this.rows[step - 1] : 0);
      if (!now && open) right.push(this.rows[step - 1]);
      open = now;
    }
    return {left, right};
  }
  columns(lanes) { // all cells, for the CSV file of the heat map
    const table = {feature: [], row: [], score: [], selected: []};
    for (const feature of lanes) {
      this.rows.forEach((row, step) => {
        const score = this.score(feature, step);
        if (score === null) return;
        table.feature.push(this.features[feature].name);
        table.row.push(row);
        table.score.push(score);
        table.selected.push(this.flag(this.held, feature, step));
      });
    }
    return table;
  }
  facts(feature) {
    const {share, first} = this.features[feature], end = this.rows.length - 1;
    const ranks = this.rankRows.map((_, k) => this.rank(feature, k)).filter((rank) => rank !== null);
    const facts = [
      [numberText(this.score(feature, end)), "score at the end"],
      [ranks.length ? String(ranks.reduce((a, b) => Math.min(a, b))) : "–", "best rank"],
      [(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + " %", "of the rows selected"],
      [first === null ? "never" : first.toLocaleString("en"), "first row selected"],
    ];
    if (this.true !== null) facts.push([this.flag(this.true, feature, end) ? "yes" : "no", "true feature at the end"]);
    return facts;
  }
}

// The dialog: `charts` are the two charts of feature_charts() in Python, drawn when it opens for the first time.
class FeatureView {
  constructor(grids, charts, draw) {
    Object.assign(this, {grids, charts, draw, drawn: false, grid: null});
    this.dialog = document.getElementById("feature");
    this.choice = document.getElementById("feature-choice");
    this.choice.addEventListener("change", () => this.show(Number(this.choice.value)));
    document.getElementById("feature-close").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    for (const button of document.querySelectorAll("button.open")) {
      button.addEventListener("click", () => this.open(Number(button.dataset.grid), Number(button.dataset.feature)));
    }
  }
  async open(grid, feature) {
    if (this.grid !== this.grids[grid]) {
      this.grid = this.grids[grid];
      this.choice.replaceChildren(...this.grid.features.map(({name}, k) => new Option(name, k)));
    }
    this.choice.value = feature;
    this.dialog.showModal();
    if (!this.drawn) {
      this.drawn = true;
      await this.draw();
    }
    this.show(feature);
  }
  show(feature) {
    const grid = this.grid;
    document.getElementById("feature-name").textContent = grid.features[feature].name;
    document.getElementById("feature-facts").replaceChildren(...grid.facts(feature).map(([value, what]) => {
      const box = document.createElement("div");
      box.append(Object.assign(document.createElement("dt"), {textContent: what}));
      box.append(Object.assign(document.createElement("dd"), {textContent: value}));
      return box;
    }));
    const number = this.grids.indexOf(grid);
    const card = document.querySelector(`article[data-grid="${number}"][data-feature="${feature}"] .why`);
    document.getElementById("feature-why").replaceChildren(...(card === null ? [] : [card.cloneNode(true)]));
    const held = grid.intervals(grid.held, feature);
    const score = grid.rows.map((_, step) => grid.score(feature, step));
    const rank = grid.rankRows.map((_, step) => grid.rank(feature, step));
    const lines = [{x: grid.rows, y: score}, {x: grid.rankRows, y: rank}];
    this.charts.forEach((chart, k) => {
      const {x, y} = lines[k], what = k === 0 ? "score" : "rank";
      chart.data = {feature: x.map(() => grid.features[feature].name), row: x, [what]: y};
      if (k === 0) chart.data.selected = x.map((_, step) => grid.flag(grid.held, feature, step));
      chart.model.select_one("held").data = held;
      chart.model.select_one("line").data = {x: x, y: y.map((v) => (v === null || !Number.isFinite(v) ? NaN : v))};
    });
    this.dialog.dataset.shown = String(feature);
  }
}
