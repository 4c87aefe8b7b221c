"use strict";
// The tree of words: point at a vertex or walk by keys; see what two words share.
report.widgets.cayley = (box, data) => {
  box.classList.add("disk");
  const view = report.make("div", { className: "disk-view", tabIndex: 0 }, box), side = report.make("div", {}, box);
  view.setAttribute("role", "application");
  view.setAttribute("aria-label", "Tree of words. Arrow keys walk: right a, up b, left a inverse, down b inverse. "
    + "Enter keeps a word to compare with, Escape lets it go.");
  const text = report.make("p", { className: "readout" }, side);
  text.setAttribute("aria-live", "polite");
  report.make("p", { className: "note" }, side, "Point at a vertex, or focus the disk and walk with the arrow keys: → a, ↑ b, "
    + "← a⁻¹, ↓ b⁻¹. Click or Enter keeps a word; the next one is compared with it. Thick: the way from the centre. "
    + "Bright: all words that begin with this one.");
  const make = report.svg;
  const svg = make("svg", { viewBox: "-1.03 -1.03 2.06 2.06", "aria-hidden": "true" }, view);
  const rim = make("circle", { r: 1, fill: "none", "stroke-width": 0.006 }, svg);
  const depth = vertex => data.letters[vertex].length;
  const edges = data.edges.map((path, i) => make("path",
    { d: path, fill: "none", "stroke-linecap": "round" }, svg));
  const dots = data.x.map((x, i) => make("circle",
    { cx: x, cy: -data.y[i], r: Math.max(0.0022, 0.02 * 0.62 ** depth(i)) }, svg));
  // The four first letters, beside their vertices.
  const names = [[1, 0.03, -0.03], [2, 0.03, -0.02], [-1, -0.14, -0.03], [-2, 0.03, 0.06]].map(([letter, right, down]) => {
    const vertex = data.letters.findIndex(each => each.length === 1 && each[0] === letter);
    const name = make("text", { x: data.x[vertex] + right, y: -data.y[vertex] + down, "font-size": 0.075, "font-style": "italic" }, svg);
    name.textContent = data.words[vertex];
    return name;
  });
  const byWord = new Map(data.letters.map((letters, i) => [letters.join(), i]));
  const spelled = vertex => depth(vertex) ? data.words[vertex] : "e, the empty word";
  let here = byWord.get("1,2") ?? 0, kept = null;

  const way = vertex => {
    const vertices = [];
    for (let at = vertex; at >= 0; at = data.parents[at]) vertices.push(at);
    return vertices.reverse();
  };
  const shared = (one, other) => {
    const first = way(one), second = way(other);
    let count = 0;
    while (count < first.length && first[count] === second[count]) count++;
    return count - 1;
  };
  const below = data.letters.map((letters, i) => new Set(way(i)));

  const draw = () => {
    const onWay = new Set(way(here)), keptWay = new Set(kept === null ? [] : way(kept));
    const colours = [report.colour("--l1"), report.colour("--l8")];
    rim.setAttribute("stroke", report.colour("--muted"));
    for (const name of names) name.setAttribute("fill", report.colour("--ink"));
    edges.forEach((edge, i) => {
      const vertex = i + 1, bright = below[vertex].has(here);
      const thick = onWay.has(vertex), other = keptWay.has(vertex);
      edge.setAttribute("stroke", thick && other ? report.colour("--accent")
        : colours[Math.abs(data.letters[vertex].at(-1)) - 1]);
      edge.setAttribute("stroke-width", (0.018 * 0.66 ** (depth(vertex) - 1)) * (thick || other ? 2 : 1) + 0.0008);
      edge.setAttribute("opacity", thick || other || bright ? 1 : 0.3);
    });
    dots.forEach((dot, vertex) => {
      const bright = onWay.has(vertex) || keptWay.has(vertex) || below[vertex].has(here);
      dot.setAttribute("opacity", bright ? 1 : 0.35);
      const marked = vertex === here || vertex === kept;
      dot.setAttribute("fill", report.colour(marked ? "--accent" : "--ink"));
      dot.setAttribute("r", Math.max(0.0022, 0.02 * 0.62 ** depth(vertex)) * (marked ? 1.8 : 1) + (marked ? 0.006 : 0));
    });
    const continued = below.filter(set => set.has(here)).length - 1;
    const word = document.createElement("span");
    word.className = "disk-word";
    word.textContent = spelled(here);
    let rest = depth(here) + (depth(here) === 1 ? " letter" : " letters") + "; "
      + continued + " of the words drawn begin with it.";
    if (kept !== null && kept !== here) {
      const k = shared(here, kept);
      rest += " With " + spelled(kept) + " it shares " + (k ? "its first " + (k === 1 ? "letter" : k + " letters")
        : "no letter at the start") + "; they are " + (depth(here) + depth(kept) - 2 * k) + " steps apart.";
    } else if (kept === here) rest += " Kept: choose another word to compare.";
    text.replaceChildren(word, rest);
  };

  const nearest = event => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width - 0.5) * 2.06;
    const y = -((event.clientY - box.top) / box.height - 0.5) * 2.06;
    let best = 0, least = Infinity;
    data.x.forEach((each, i) => {
      const distance = (each - x) ** 2 + (data.y[i] - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  };
  const go = vertex => {
    if (vertex === undefined || vertex === here) return;
    here = vertex;
    draw();
  };
  const keep = vertex => { kept = kept === vertex ? null : vertex; draw(); };
  view.addEventListener("pointermove", event => go(nearest(event)));
  view.addEventListener("click", event => { here = nearest(event); keep(here); });
  view.addEventListener("keydown", event => {
    const letter = { ArrowRight: 1, ArrowUp: 2, ArrowLeft: -1, ArrowDown: -2 }[event.key];
    if (letter) {
      const word = data.letters[here];
      go(word.at(-1) === -letter ? data.parents[here] : byWord.get([...word, letter].join()));
    } else if (event.key === "Enter" || event.key === " ") keep(here);
    else if (event.key === "Escape") { kept = null; draw(); } else return;
    event.preventDefault();
  });
  report.redraw.push(draw);
  draw();
};

for (const box of document.querySelectorAll("[data-widget]"))
  report.widgets[box.dataset.widget](box, report.data[box.dataset.widget]);
