// A drawn bokeh view as a file, SVG or PNG, on the colour of the page; and all of them as text, for `streamsift report`.
// Nothing here waits for pictures to be decoded: a browser that prints a page does not do so either.
// The words of a chart, its title above and its legend below, stand in the page and not in the view: they are drawn here.
const HEAD = 34, LINE = 20, SWATCH = 22, FONT = "system-ui, sans-serif";

const wordsOf = (place) => {
  const figure = document.getElementById(place).closest("figure"), shown = getComputedStyle(document.documentElement);
  const marks = [...figure.querySelectorAll(".legend li")].map((line) => {
    const swatch = line.querySelector(".swatch"), ramp = swatch.classList.contains("ramp");
    const colours = ramp ? [0, 1, 2, 3, 4].map((k) => shown.getPropertyValue("--heat-" + k).trim())
      : [getComputedStyle(swatch).getPropertyValue("--role").trim()];
    return {text: line.textContent.trim(), colours, dashed: ["dashed", "dotted"].some((kind) => swatch.classList.contains(kind))};
  });
  return {title: figure.querySelector("h3").textContent, ink: shown.getPropertyValue("--ink").trim(), marks};
};

// Boxes and texts around a picture of some width, and how high the part below it is.
const layOut = (words, width) => {
  const pen = document.createElement("canvas").getContext("2d"), boxes = [], texts = [];
  pen.font = "13px " + FONT;
  let x = 8, line = 0;
  for (const {text, colours, dashed} of words.marks) {
    const wide = SWATCH + 7 + pen.measureText(text).width + 20;
    if (x > 8 && x + wide > width) { x = 8; line += 1; }
    const y = line * LINE + 12, part = SWATCH / (dashed ? 3 : colours.length);
    (dashed ? [colours[0], null, colours[0]] : colours).forEach((colour, k) =>
      colour && boxes.push({x: x + k * part, y: y - 2, width: part, height: 5, colour}));
    texts.push({x: x + SWATCH + 7, y: y + 5, text});
    x += wide;
  }
  return {boxes, texts, height: words.marks.length ? (line + 1) * LINE + 8 : 0};
};

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const svgWithWords = (inner, words, width, height, paper) => {
  const {boxes, texts, height: below} = layOut(words, width), foot = HEAD + height;
  const rects = boxes.map((box) =>
    `<rect x="${box.x}" y="${foot + box.y}" width="${box.width}" height="${box.height}" fill="${box.colour}"/>`);
  const lines = texts.map(({x, y, text}) => `<text x="${x}" y="${foot + y}" font-size="13">${escaped(text)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${foot + below}" font-family="${FONT}" fill="${words.ink}">`
    + `<rect width="100%" height="100%" fill="${paper}"/><text x="8" y="22" font-size="15" font-weight="600">${escaped(words.title)}</text>`
    + `<svg y="${HEAD}" width="${width}" height="${height}">${inner}</svg>${rects.join("")}${lines.join("")}</svg>`;
};

// A screen has one or two dots per pixel, print and slides want more: a PNG has at least two. Bokeh asks the window.
const SCALE = 2;
const finely = (draw) => {
  const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio"), value = Math.max(SCALE, devicePixelRatio);
  Object.defineProperty(window, "devicePixelRatio", {configurable: true, value});
  try { return draw(); } finally { Object.defineProperty(window, "devicePixelRatio", own); }
};

const bytesOfPicture = (model, kind, paper, words = null) => {
  const view = Bokeh.index.get_by_id(model.id), layer = finely(() => view.export(kind)), {width, height} = view.bbox;
  if (kind === "svg") {
    const text = layer.ctx.get_serialized_svg(true);
    const whole = words ? svgWithWords(text, words, width, height, paper)
      : text.replace(/(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="${paper}"/>`);
    return new TextEncoder().encode(whole);
  }
  const ratio = layer.canvas.width / width, head = words ? HEAD : 0;
  const around = words ? layOut(words, width) : {boxes: [], texts: [], height: 0};
  const canvas = document.createElement("canvas");
  Object.assign(canvas, {width: layer.canvas.width, height: layer.canvas.height + ratio * (head + around.height)});
  const pen = canvas.getContext("2d");
  pen.fillStyle = paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(layer.canvas, 0, ratio * head);
  pen.scale(ratio, ratio);
  for (const box of around.boxes) {
    pen.fillStyle = box.colour;
    pen.fillRect(box.x, head + height + box.y, box.width, box.height);
  }
  pen.fillStyle = words?.ink ?? "#000000";
  pen.font = "13px " + FONT;
  for (const {x, y, text} of around.texts) pen.fillText(text, x, head + height + y);
  pen.font = "600 15px " + FONT;
  if (words) pen.fillText(words.title, 8, 22);
  return Uint8Array.from(atob(canvas.toDataURL("image/png").split(",")[1]), (letter) => letter.charCodeAt(0));
};

const pictureOf = (model, kind, paper, words) =>
  new Blob([bytesOfPicture(model, kind, paper, words)], {type: kind === "svg" ? "image/svg+xml" : "image/png"});

const writeOut = (named, kind, paper) => {
  const found = {};
  for (const [name, model, words] of named) {
    const bytes = bytesOfPicture(model, kind, paper, words);
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    found[`${name}.${kind}`] = btoa(text);
  }
  const out = Object.assign(document.createElement("pre"), {id: "exported", textContent: JSON.stringify(found)});
  document.body.replaceChildren(out);
};
