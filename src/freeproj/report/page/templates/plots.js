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

(() => {
  const data = report.data.dimension;
  if (!data) return;
  const ridgeSlider = document.getElementById("ridge");
  const wordsSlider = document.getElementById("n-words");
  const ridges = Array.from({ length: 121 }, (_, i) => 10 ** (-4.2 + i * 4.4 / 120));
  const lengths = Array.from({ length: 76 }, (_, i) => 1 + i / 5);
  const text = x => x >= 0.1 ? x.toFixed(2) : x.toPrecision(2);

  const againstRidge = (ridge, words) => {
    const traces = data.lengths.map(length => ({
      x: ridges, y: ridges.map(g => report.limit(g, words ** (1 / length), length)),
      name: "ℓ = " + length, mode: "lines", line: { color: report.lengthColour(length), width: 2 },
      hovertemplate: "γ = %{x:.2g}<br>d<sub>eff</sub>/d = %{y:.4f}<extra>ℓ = " + length + ", limit</extra>",
    }));
    if (words === data.n_words) data.lengths.forEach((length, row) => traces.push({
      x: data.ridges, y: data.measured[row], mode: "markers", showlegend: false,
      error_y: { type: "data", array: data.deviation[row], thickness: 1, width: 2 },
      marker: { color: report.lengthColour(length), size: 5 },
      hovertemplate: "γ = %{x:.2g}<br>d<sub>eff</sub>/d = %{y:.4f} ± %{error_y.array:.4f}"
        + "<extra>ℓ = " + length + ", " + data.n_trials + " trials</extra>",
    }));
    report.plot("dimension-ridge", traces, {
      xaxis: { type: "log", title: { text: "ridge γ" }, range: [-4.2, 0.2], dtick: 1, exponentformat: "power" },
      yaxis: { title: { text: "d<sub>eff</sub> / d" }, range: [0, 1] },
      shapes: [{ type: "line", x0: ridge, x1: ridge, y0: 0, y1: 1, yref: "paper",
        line: { color: report.colour("--muted"), width: 1, dash: "dot" } }],
    });
  };

  const againstLength = (ridge, words) => {
    const at = length => report.limit(ridge, words ** (1 / length), length);
    report.plot("dimension-length", [
      { x: lengths, y: lengths.map(at), mode: "lines", showlegend: false, hoverinfo: "skip",
        line: { color: report.colour("--muted"), width: 1.5 } },
      { x: data.lengths, y: data.lengths.map(at), mode: "markers", showlegend: false,
        marker: { size: 10, color: data.lengths.map(report.lengthColour) },
        hovertemplate: "ℓ = %{x}<br>d<sub>eff</sub>/d = %{y:.4f}<extra></extra>" },
    ], {
      xaxis: { title: { text: "word length ℓ" }, range: [0.5, 16.5], tickvals: [1, 2, 4, 8, 16] },
      yaxis: { range: [0, 1] },
    });
    document.getElementById("dimension-text").textContent = "At γ = " + text(ridge) + ": "
      + data.lengths.map(l => "ℓ = " + l + " (n = " + +(words ** (1 / l)).toFixed(2) + ") keeps "
        + (100 * at(l)).toFixed(1) + " %").join(", ") + " of the dimensions.";
  };

  const draw = () => {
    const ridge = 10 ** +ridgeSlider.value, words = 2 ** +wordsSlider.value;
    document.getElementById("ridge-value").textContent = text(ridge);
    document.getElementById("words-value").textContent = words.toLocaleString("en").replaceAll(",", " ");
    ridgeSlider.setAttribute("aria-valuetext", "ridge " + text(ridge));
    wordsSlider.setAttribute("aria-valuetext", words + " words");
    againstRidge(ridge, words);
    againstLength(ridge, words);
  };
  for (const slider of [ridgeSlider, wordsSlider]) slider.addEventListener("input", draw);
  report.redraw.push(draw);
  draw();
})();

// Spectra of √K, one length at a time or all limits together.
(() => {
  const data = report.data.spectra;
  if (!data) return;
  const box = document.getElementById("spectra-lengths");
  const log = document.getElementById("spectra-log");
  const choices = [...data.map(each => String(each.length)), "all"];
  choices.forEach((value, index) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "radio", name: "spectra-length", value, checked: index === data.length - 1 });
    input.addEventListener("change", () => draw());
    label.append(input, value === "all" ? "all" : "ℓ = " + value);
    box.append(label);
  });

  const traces = (each, alone) => {
    const width = each.edges[1] - each.edges[0];
    const bars = {
      type: "bar", x: each.heights.map((_, i) => (each.edges[i] + each.edges[i + 1]) / 2), y: each.heights,
      width: each.heights.map(() => width), name: "measured", opacity: 0.45,
      marker: { color: report.lengthColour(each.length), line: { width: 0 } },
      hovertemplate: "%{x:.3f}: %{y:.4f}<extra>measured</extra>",
    };
    const line = {
      x: each.places, y: each.density, mode: "lines",
      name: alone ? "limit" : "ℓ = " + each.length + ", n = " + each.n,
      line: { color: alone ? report.colour("--ink") : report.lengthColour(each.length), width: 1.8 },
      hovertemplate: "%{x:.3f}: %{y:.4f}<extra>ℓ = " + each.length + ", limit</extra>",
    };
    return alone ? [bars, line] : [line];
  };

  const draw = () => {
    const chosen = box.querySelector("input:checked").value;
    const shown = data.filter(each => chosen === "all" || String(each.length) === chosen);
    const highest = Math.max(...data.flatMap(each => each.heights));
    report.plot("spectra-plot", shown.flatMap(each => traces(each, chosen !== "all")), {
      bargap: 0,
      xaxis: { title: { text: "singular values of √K" }, range: [0, 1.02 * Math.max(...data.map(e => e.edges.at(-1)))] },
      yaxis: { title: { text: "density" }, type: log.checked ? "log" : "linear", dtick: log.checked ? 1 : undefined, exponentformat: "power",
        range: log.checked ? [-3.5, Math.log10(1.6 * highest)] : [0, 1.1 * highest] },
    });
  };
  log.addEventListener("change", draw);
  report.redraw.push(draw);
  draw();
})();

// Training: learning curves and adaptation, with one set of controls.
(() => {
  const data = report.data.curves;
  if (!data) return;
  const task = document.getElementById("task"), view = document.getElementById("view");
  for (const each of data.tasks) task.add(new Option(each.title, each.name));
  const curves = [...Object.values(data.views).flat(), ...data.adaptation];
  for (const option of view.options) option.disabled = !data.views[option.value].length;
  view.value = [...view.options].find(option => !option.disabled)?.value ?? view.options[0].value;
  const hidden = new Set();

  const boxes = (id, values, label, style) => {
    for (const value of values) {
      const box = document.createElement("label"), input = document.createElement("input");
      const swatch = document.createElement("span");
      Object.assign(input, { type: "checkbox", checked: true });
      input.addEventListener("change", () => {
        if (input.checked) hidden.delete(value); else hidden.add(value);
        draw();
      });
      swatch.className = "swatch";
      style(swatch, value);
      box.append(input, swatch, label(value));
      document.getElementById(id).append(box);
    }
  };
  const names = { 1: "--l1", 2: "--l2", 4: "--l4", 8: "--l8" };
  const sorted = key => [...new Set(curves.map(each => each[key]))].sort((a, b) => (a > b) - (a < b));
  boxes("lengths", sorted("length"), value => "ℓ = " + value + (value === 1 ? " (RP)" : ""),
    (swatch, value) => { swatch.style.background = "var(" + (names[value] || (value % 2 ? "--la" : "--lb")) + ")"; });
  const dashes = Object.fromEntries(sorted("memory").map((name, i) => [name, ["solid", "dash", "dot"][i % 3]]));
  boxes("memories", sorted("memory"), value => value.toUpperCase(), (swatch, value) => {
    swatch.style.height = "0";
    swatch.style.borderTop = "3px " + { solid: "solid", dash: "dashed", dot: "dotted" }[dashes[value]] + " var(--ink)";
  });

  const traces = (all, step) => all.filter(each => each.task === task.value
      && !hidden.has(each.length) && !hidden.has(each.memory))
      .sort((a, b) => (a.memory > b.memory) - (a.memory < b.memory) || a.length - b.length).flatMap(each => {
    const colour = report.lengthColour(each.length), name = "ℓ = " + each.length + ", " + each.memory.toUpperCase();
    const inBand = each.x.map((_, i) => i).filter(i => each.low[i] !== null);
    const band = {
      x: [...inBand.map(i => each.x[i]), ...inBand.map(i => each.x[i]).reverse()],
      y: [...inBand.map(i => each.high[i]), ...inBand.map(i => each.low[i]).reverse()],
      fill: "toself", mode: "none", fillcolor: colour + "24", hoverinfo: "skip", legendgroup: name, showlegend: false,
    };
    const line = {
      x: each.x, y: each.mean, name, legendgroup: name, mode: each.x.length > 1 ? "lines" : "markers",
      line: { color: colour, width: 2, dash: dashes[each.memory] }, marker: { color: colour },
      customdata: each.x.map((_, i) => [each.n[i], each.low[i] === null ? "no interval"
        : "[" + each.low[i].toFixed(2) + ", " + each.high[i].toFixed(2) + "]"]),
      hovertemplate: step + " %{x}: %{y:.2f} %{customdata[1]}, seeds: %{customdata[0]}<extra>" + name + "</extra>",
    };
    return [band, line];
  });

  const level = (value, label, dash) => value === null ? [] : [{
    type: "line", xref: "paper", x0: 0, x1: 1, y0: value, y1: value,
    line: { color: report.colour("--muted"), width: 1.2, dash },
    label: { text: label, textposition: "end", yanchor: "bottom", font: { size: 11, color: report.colour("--muted") } },
  }];

  const nothing = shown => shown.length ? [] : [{ text: "no data for this choice", showarrow: false,
    xref: "paper", yref: "paper", x: 0.5, y: 0.5, font: { color: report.colour("--muted") } }];

  const draw = () => {
    const chosen = data.tasks.find(each => each.name === task.value);
    const shown = traces(data.views[view.value], "update");
    const blind = chosen.blind !== null && chosen.blind > chosen.chance;
    report.plot("curves-plot", shown, {
      xaxis: { title: { text: "update" }, rangemode: "tozero" }, yaxis: { title: { text: "return of an episode" } },
      shapes: [...level(chosen.chance, "chance", "dot"),
        ...(blind ? level(chosen.blind, "best blind policy", "dashdot") : [])],
      annotations: nothing(shown),
    });
    const said = [["Chance", chosen.chance], ["best blind policy (" + chosen.blind_name + ")", blind ? chosen.blind : null],
      ["best possible", chosen.ceiling]].filter(each => each[1] !== null);
    document.getElementById("levels-text").textContent = said.length
      ? said.map(([name, value]) => name + " " + value.toFixed(2)).join(", ") + ", for a whole episode." : "";
    const trials = traces(data.adaptation, "trial");
    const most = Math.max(1, ...trials.flatMap(each => each.x));
    report.plot("adaptation-plot", trials, {
      xaxis: { title: { text: "trial" }, dtick: most > 8 ? 3 : 1, tick0: 1 }, yaxis: { title: { text: "return of a trial" } },
      shapes: level(chosen.trial_chance, "chance", "dot"), annotations: nothing(trials),
    });
  };
  task.addEventListener("change", draw);
  view.addEventListener("change", draw);
  report.redraw.push(draw);
  draw();
})();
