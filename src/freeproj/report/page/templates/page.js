"use strict";
// What all parts of the page share: its data, its colours, light and dark.
const report = {
  data: JSON.parse(document.getElementById("report-data").textContent),
  redraw: [],
  printing: false,
  paperWidth: 610,  // pixels: what A4 and Letter leave between margins and padding
};

report.colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
report.lengthColour = length => report.colour(
  { 1: "--l1", 2: "--l2", 4: "--l4", 8: "--l8" }[length] || (length % 2 ? "--la" : "--lb"));

report.layout = more => {
  const axis = {
    gridcolor: report.colour("--grid"), linecolor: report.colour("--muted"),
    zerolinecolor: report.colour("--grid"), ticks: "outside", tickcolor: report.colour("--muted"),
    automargin: true, title: { standoff: 8 },
  };
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: report.colour("--ink") },
    margin: { l: 56, r: 14, t: 30, b: 46 },
    width: report.printing ? report.paperWidth : undefined, autosize: !report.printing,
    hoverlabel: { bgcolor: report.colour("--card"), bordercolor: report.colour("--rule"),
      font: { color: report.colour("--ink") } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: report.colour("--muted"), activecolor: report.colour("--ink") },
    legend: { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom", traceorder: "normal" },
    ...more,
  };
  layout.xaxis = { ...axis, ...more.xaxis };
  layout.yaxis = { ...axis, ...more.yaxis };
  return layout;
};

report.plot = (id, traces, layout) => Plotly.react(id, traces, report.layout(layout), {
  displaylogo: false, responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
});

report.theme = {
  system: window.matchMedia("(prefers-color-scheme: dark)"),
  chosen: null,
  current() { return this.chosen || (this.system.matches ? "dark" : "light"); },
  show(name = this.current()) {
    document.documentElement.dataset.theme = name;
    const button = document.getElementById("theme");
    button.setAttribute("aria-pressed", String(name === "dark"));
    document.getElementById("theme-name").textContent = name === "dark" ? "Light" : "Dark";
    for (const draw of report.redraw) draw();
  },
};
report.theme.show();
document.getElementById("theme").addEventListener("click", () => {
  report.theme.chosen = report.theme.current() === "dark" ? "light" : "dark";
  report.theme.show();
});
report.theme.system.addEventListener("change", () => report.theme.show());

// Paper is white, narrow, and cannot be unfolded. A plot does not follow the width of
// the paper by itself, so it is drawn for it.
report.opened = [];
window.addEventListener("beforeprint", () => {
  report.opened = [...document.querySelectorAll("details:not([open])")];
  for (const each of report.opened) each.open = true;
  report.printing = true;
  report.theme.show("light");
});
window.addEventListener("afterprint", () => {
  for (const each of report.opened) each.open = false;
  report.printing = false;
  report.theme.show();
});
