"use strict";
// Effective dimension: the root y of γ·y·(1 - y/n)^ℓ = (1 - y)^(ℓ+1)·(1 - y), for p = d.
// In y = 1/(1 + e^-u) the difference of logarithms rises with slope 1 at least, so that
// halving an interval around the root cannot miss it.
report.limit = (ridge, n, length) => {
  const rest = u => {
    const y = 1 / (1 + Math.exp(-u)), z = 1 / (1 + Math.exp(u));
    return Math.log(ridge) + Math.log(y) + length * Math.log1p(-y / n)
      - (length + 1) * Math.log(z) - Math.log(z);
  };
  let low = -60, high = 35;
  for (let step = 0; step < 80; step++) {
    const middle = (low + high) / 2;
    if (rest(middle) < 0) low = middle; else high = middle;
  }
  return 1 / (1 + Math.exp(-(low + high) / 2));
};
report.widgets = {};

report.slider = (box, text, settings) => {
  const label = report.make("label", { className: "slider" }, box);
  const said = report.make("span", {}, label, text + " = ");
  const output = report.make("output", {}, said), input = report.make("input", { type: "range", ...settings }, label);
  input.value = settings.value;
  return { input, show: value => { output.textContent = value; input.setAttribute("aria-valuetext", value); } };
};

report.widgets["effective-dimension"] = (box, data) => {
  const controls = report.make("div", { className: "controls" }, box);
  const ridges = Array.from({ length: 121 }, (_, i) => 10 ** (-4.2 + i * 4.4 / 120));
  const ridgeSlider = report.slider(controls, "ridge γ", { min: -4, max: 0, step: 0.05, value: -2 });
  const wordSlider = report.slider(controls, "words", { min: 2, max: 24, step: 1, value: 8 });
  const legend = report.make("div", { className: "legend" }, box);
  for (const length of data.lengths) {
    const entry = report.make("span", {}, legend), swatch = report.make("span", { className: "swatch" }, entry);
    swatch.style.setProperty("--colour", report.lengthColour(length));
    entry.append(" ℓ = " + length);
  }
  report.make("span", {}, legend, "line: limit of large d; points: mean of " + data.n_trials + " draws at d = " + data.dim);
  const pair = report.make("div", { className: "pair" }, box);
  const left = report.make("div", { className: "plot" }, pair), right = report.make("div", { className: "plot" }, pair);
  const readout = report.make("p", { className: "readout" }, box);
  readout.setAttribute("aria-live", "polite");
  const text = x => x >= 0.1 ? x.toFixed(2) : x.toPrecision(2);
  const drawnWords = Math.round(data.n_generators[0] ** data.lengths[0]);

  const draw = () => {
    const ridge = 10 ** +ridgeSlider.input.value, words = 2 ** +wordSlider.input.value;
    ridgeSlider.show(text(ridge));
    wordSlider.show(words.toLocaleString("en").replaceAll(",", " "));
    const at = length => report.limit(ridge, words ** (1 / length), length);
    const lines = data.lengths.map(length => ({ name: "ℓ = " + length + ", limit", colour: report.lengthColour(length),
      x: ridges, y: ridges.map(g => report.limit(g, words ** (1 / length), length)) }));
    const measured = words !== drawnWords ? [] : data.lengths.map((length, row) => ({ mode: "points",
      name: "ℓ = " + length + ", " + data.n_trials + " draws", colour: report.lengthColour(length), x: data.ridges, y: data.measured_per_dimension[row],
      low: data.measured_per_dimension[row].map((v, i) => v - data.deviation_per_dimension[row][i]), high: data.measured_per_dimension[row].map((v, i) => v + data.deviation_per_dimension[row][i]) }));
    report.chart(left, { x: { title: "ridge γ", name: "γ =", kind: "log" }, y: { title: "effective dimension / d", range: [0, 1] } },
      [{ series: [...lines, ...measured, { name: "chosen γ", colour: "var(--muted)", dash: "2 4", x: [ridge, ridge], y: [0, 1] }] }]);
    report.chart(right, { x: { title: "word length ℓ, at the chosen γ", labels: data.lengths.map(String) }, y: { title: "effective dimension / d", range: [0, 1] } },
      [{ series: data.lengths.map((length, i) => ({ mode: "points", name: "ℓ = " + length, colour: report.lengthColour(length), x: [i], y: [at(length)] })) }]);
    readout.textContent = "At γ = " + text(ridge) + ": " + data.lengths.map(l => "ℓ = " + l + " (n = "
      + +(words ** (1 / l)).toFixed(2) + ") keeps " + (100 * at(l)).toFixed(1) + " %").join(", ") + " of the dimensions.";
  };
  for (const slider of [ridgeSlider, wordSlider]) slider.input.addEventListener("input", draw);
  report.redraw.push(draw);
  draw();
};

// Spectra of √K, one length at a time or all limits together.
report.widgets["kernel-spectra"] = (box, numbers) => {
  const data = numbers.lengths.map((length, row) => ({ length, n: numbers.n_generators[row],
    edges: numbers.bin_edges[row], heights: numbers.histogram[row],
    places: numbers.limit_places[row], density: numbers.limit_density[row] }));
  const controls = report.make("div", { className: "controls" }, box), choices = [...data.map(each => String(each.length)), "all"];
  let chosen = choices.at(-2);
  choices.forEach(value => {
    const label = report.make("label", {}, controls);
    const input = report.make("input", { type: "radio", name: "spectra-length", value, checked: value === chosen }, label);
    label.append(value === "all" ? "all" : "ℓ = " + value);
    input.addEventListener("change", () => { chosen = value; draw(); });
  });
  const label = report.make("label", {}, controls), log = report.make("input", { type: "checkbox", checked: true }, label);
  label.append("logarithmic");
  const plot = report.make("div", { className: "plot" }, box);
  const series = (each, alone) => {
    const colour = report.lengthColour(each.length), name = "ℓ = " + each.length + ", n = " + each.n;
    const bars = { mode: "bars", name: "measured", colour, width: each.edges[1] - each.edges[0],
      x: each.heights.map((_, i) => (each.edges[i] + each.edges[i + 1]) / 2), y: each.heights };
    const line = { name: alone ? "limit" : name, colour: alone ? "var(--ink)" : colour, x: each.places, y: each.density };
    return alone ? [bars, line] : [line];
  };
  const draw = () => {
    const shown = data.filter(each => chosen === "all" || String(each.length) === chosen);
    const highest = 1.3 * Math.max(...data.flatMap(each => each.heights)), alone = chosen !== "all";
    const floor = 3e-4, keep = s => ({ ...s, y: s.y.map(v => v === null || (log.checked && v < floor) ? null : Math.min(v, highest)) });
    report.chart(plot, { x: { title: "singular values of √K", name: "at", range: [0, Math.max(...data.map(e => e.edges.at(-1)))] },
      y: { title: "density", kind: log.checked ? "log" : "linear", range: [log.checked ? floor : 0, highest] } },
    [{ series: shown.flatMap(each => series(each, alone)).map(keep) }]);
  };
  log.addEventListener("change", draw);
  report.redraw.push(draw);
  draw();
};
