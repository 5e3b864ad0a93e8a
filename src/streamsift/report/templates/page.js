"use strict";
// Puts the charts on the page and paints them with the style sheet's colours, again whenever those change.
(async () => {
  const charts = JSON.parse(document.getElementById("data").textContent);
  if (charts.length === 0) return;
  for (const chart of charts) await Bokeh.embed.embed_item(chart.item);
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    for (const chart of charts) {
      for (const [id, properties] of Object.entries(chart.paint)) {
        const colours = Object.entries(properties).map(([name, role]) => [name, style.getPropertyValue("--" + role).trim()]);
        for (const each of Bokeh.documents) each.get_model_by_id(id)?.setv(Object.fromEntries(colours));
      }
    }
  };
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  matchMedia("print").addEventListener("change", paint);
})();
