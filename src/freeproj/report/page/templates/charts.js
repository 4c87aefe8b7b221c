"use strict";
// Charts as SVG: lines with bands, points with intervals, bars; linear, logarithmic and
// named axes. Colours are the page's variables, so light and dark need no redrawing.
report.svg = (name, attributes, parent, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
};
report.make = (name, attributes, parent, text) => {
  const node = Object.assign(document.createElement(name), attributes);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
};
report.lengthColour = length =>
  "var(" + ({ 1: "--l1", 2: "--l2", 4: "--l4", 8: "--l8" }[length] || (length % 2 ? "--la" : "--lb")) + ")";
report.number = (value, digits = 3) => {
  const rounded = Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3)
    ? value.toExponential(1) : String(+value.toPrecision(digits));
  return rounded.replace("-", "−");
};

report.chart = (() => {
  const margin = { left: 52, right: 12, top: 12, bottom: 40 };
  const isNumber = value => value !== null && Number.isFinite(value);

  const ticks = (low, high, count) => {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map(each => each * power).find(each => each >= rough * 0.999);
    const found = [];
    for (let at = Math.ceil(low / step); at * step <= high + step * 1e-6; at++) found.push(at * step);
    return found;
  };
  const decades = (low, high) => {
    const found = [];
    for (let power = Math.ceil(low - 1e-9); power <= high + 1e-9; power++) found.push(power);
    return found;
  };

  // An axis turns values into pixels between two ends, and has ticks with their texts.
  const scale = (axis, values, from, to) => {
    if (axis.labels) {
      const width = (to - from) / axis.labels.length;
      return { at: value => from + (value + 0.5) * width,
        ticks: axis.labels.map((text, i) => [from + (i + 0.5) * width, text]) };
    }
    const log = axis.kind === "log", turn = value => log ? Math.log10(value) : value;
    const seen = values.filter(value => isNumber(value) && (!log || value > 0)).map(turn);
    let [low, high] = axis.range ? axis.range.map(turn) : [Math.min(...seen), Math.max(...seen)];
    if (!(high > low)) { low -= 0.5; high += 0.5; }
    if (!axis.range) { const room = 0.06 * (high - low); low -= room; high += room; }
    const at = value => from + (Math.max(turn(value), low) - low) / (high - low) * (to - from);
    const marks = log ? decades(low, high).map(power => [at(10 ** power), "10" + report.raise(power)])
      : ticks(low, high, Math.abs(to - from) / (axis.vertical ? 42 : 75)).filter(value => !axis.whole || Number.isInteger(value)).map(value => [at(value), report.number(value)]);
    return { at, ticks: marks };
  };

  const frame = (box, axes, x, y, width, height) => {
    for (const [place, text] of y.ticks) {
      report.svg("line", { x1: margin.left, x2: width - margin.right, y1: place, y2: place, class: "gridline" }, box);
      report.svg("text", { x: margin.left - 7, y: place + 4, "text-anchor": "end" }, box, text);
    }
    const bottom = height - margin.bottom;
    report.svg("line", { x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom, class: "axis" }, box);
    for (const [place, text] of x.ticks) {
      report.svg("line", { x1: place, x2: place, y1: bottom, y2: bottom + 4, class: "axis" }, box);
      report.svg("text", { x: place, y: bottom + 17, "text-anchor": "middle" }, box, text);
    }
    report.svg("text", { x: (margin.left + width - margin.right) / 2, y: height - 6, "text-anchor": "middle", class: "title" }, box, axes.x.title);
    const middle = (margin.top + bottom) / 2;
    report.svg("text", { x: 0, y: 0, transform: "translate(12," + middle + ") rotate(-90)", "text-anchor": "middle", class: "title" }, box, axes.y.title);
  };

  const mark = (box, series, x, y, colour) => {
    const hollow = series.mode === "open" || series.mode === "diamond";
    const style = "stroke:" + colour + ";fill:" + (hollow ? "var(--card)" : colour);
    if (series.mode === "diamond")
      return report.svg("path", { d: "M" + x + "," + (y - 6) + "l6,6l-6,6l-6,-6z", style, "stroke-width": 1.8 }, box);
    return report.svg("circle", { cx: x, cy: y, r: 4, style, "stroke-width": 1.8 }, box);
  };

  const drawSeries = (box, series, x, y, bottom) => {
    const colour = series.colour, seen = series.x.map((_, i) => i).filter(i => isNumber(series.y[i]));
    const place = i => [x.at(series.x[i]), y.at(series.y[i])];
    if (series.mode === "bars") {
      const half = Math.max(0.5, Math.abs(x.at(series.width) - x.at(0)) / 2);
      for (const i of seen) {
        const [left, top] = place(i);
        report.svg("rect", { x: left - half, width: 2 * half, y: top, height: Math.max(0, bottom - top), style: "fill:" + colour, opacity: 0.4 }, box);
      }
    } else if (!series.mode || series.mode === "line") {
      const band = seen.filter(i => series.low && isNumber(series.low[i]));
      if (band.length > 1) {
        const up = band.map(i => x.at(series.x[i]) + "," + y.at(series.high[i]));
        const down = band.map(i => x.at(series.x[i]) + "," + y.at(series.low[i])).reverse();
        report.svg("polygon", { points: [...up, ...down].join(" "), style: "fill:" + colour, opacity: 0.14 }, box);
      }
      if (seen.length > 1) report.svg("polyline", { points: seen.map(i => place(i).join()).join(" "), fill: "none",
        style: "stroke:" + colour, "stroke-width": 2, "stroke-dasharray": series.dash || "none", "stroke-linejoin": "round" }, box);
      else for (const i of seen) mark(box, series, ...place(i), colour);
    } else {
      for (const i of seen) {
        if (series.low && isNumber(series.low[i])) report.svg("line", { x1: place(i)[0], x2: place(i)[0],
          y1: y.at(series.low[i]), y2: y.at(series.high[i]), style: "stroke:" + colour, "stroke-width": 1.8 }, box);
        mark(box, series, ...place(i), colour);
      }
    }
    return seen.map(i => ({ place: place(i), series, i }));
  };

  const drawLevel = (box, level, y, width, bottom) => {
    const at = y.at(level.y);
    report.svg("line", { x1: margin.left, x2: width - margin.right, y1: at, y2: at, class: "level", "stroke-dasharray": level.dash || "2 4" }, box);
    const below = at + 12 < bottom ? at + 12 : at - 4;
    report.svg("text", { x: width - margin.right - 3, y: below, "text-anchor": "end", class: "label" }, box, level.label);
  };

  const said = ({ series, i }, axes) => {
    const place = axes.x.labels ? axes.x.labels[Math.round(series.x[i])] : axes.x.name + " " + report.number(series.x[i]);
    const ends = series.low && isNumber(series.low[i])
      ? " [" + report.number(series.low[i]) + ", " + report.number(series.high[i]) + "]" : "";
    const seeds = series.n ? ", seeds: " + series.n[i] : "";
    return series.name + "\n" + place + ": " + report.number(series.y[i]) + ends + seeds;
  };

  const listen = (node, box, points, tip, axes) => {
    const hide = () => { tip.hidden = true; };
    node.addEventListener("pointerleave", hide);
    node.addEventListener("pointermove", event => {
      const edge = node.getBoundingClientRect(), around = box.getBoundingClientRect();
      const x = event.clientX - edge.left, y = event.clientY - edge.top;
      const gap = point => Math.hypot(point.place[0] - x, point.place[1] - y);
      const near = points.reduce((best, each) => !best || gap(each) < gap(best) ? each : best, null);
      if (!near || gap(near) > 60) return hide();
      tip.hidden = false;
      tip.textContent = said(near, axes);
      const left = edge.left - around.left + near.place[0], limit = around.width - tip.offsetWidth - 4;
      tip.style.left = Math.max(0, Math.min(left + 10, limit)) + "px";
      tip.style.top = edge.top - around.top + near.place[1] - tip.offsetHeight - 10 + "px";
    });
  };

  // axes: {x, y}; panels: [{title, series, levels}], side by side where there is room.
  return (box, axes, panels, height = 320) => {
    const tip = report.make("div", { className: "tip", hidden: true });
    const room = box.clientWidth || 600, beside = panels.length > 1 && room > 560;
    const width = beside ? room / panels.length : room;
    box.replaceChildren();
    const all = panels.flatMap(panel => [...panel.series.flatMap(s => [...s.y, ...(s.low || []), ...(s.high || [])]),
      ...(panel.levels || []).map(level => level.y)]);
    const places = panels.flatMap(panel => panel.series.flatMap(s => s.x));
    for (const panel of panels) {
      const holder = report.make("div", { className: "panel" }, box);
      holder.style.width = width + "px";
      if (panel.title) report.make("p", { className: "panel-title" }, holder, panel.title);
      const node = report.svg("svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": (panel.title || "") + " " + axes.y.title + " against " + axes.x.title }, holder);
      if (!panel.series.length) { report.svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle", class: "title" }, node, "not run"); continue; }
      const x = scale(axes.x, places, margin.left, width - margin.right);
      const y = scale({ ...axes.y, vertical: true }, all, height - margin.bottom, margin.top);
      frame(node, axes, x, y, width, height);
      const points = panel.series.flatMap(series => drawSeries(node, series, x, y, height - margin.bottom));
      for (const level of panel.levels || []) drawLevel(node, level, y, width, height - margin.bottom);
      listen(node, box, points, tip, axes);
    }
    box.append(tip);
  };
})();

report.raise = power => String(power).replace(/./g, sign => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] || "⁻");
