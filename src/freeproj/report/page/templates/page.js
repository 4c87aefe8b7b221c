"use strict";
// What all parts of the page share: its data, its colours, light and dark, paper.
const report = {
  data: JSON.parse(document.getElementById("report-data").textContent),
  redraw: [],  // what depends on the width or, for the disk, on the colours
};
report.colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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

// A link to what is folded away unfolds it.
report.reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  if (target) target.scrollIntoView();
};
window.addEventListener("hashchange", report.reveal);
report.reveal();

let resizing = 0;
window.addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => { for (const draw of report.redraw) draw(); }, 120);
});
// A chart inside a closed <details> has no width until it is opened.
document.addEventListener("toggle", () => { for (const draw of report.redraw) draw(); }, true);

// Paper is white and cannot be unfolded.
report.opened = [];
window.addEventListener("beforeprint", () => {
  report.opened = [...document.querySelectorAll("details:not([open])")];
  for (const each of report.opened) each.open = true;
  report.theme.show("light");
});
window.addEventListener("afterprint", () => {
  for (const each of report.opened) each.open = false;
  report.theme.show();
});

// Say that a table goes on to the right, as long as it does.
for (const box of document.querySelectorAll(".scroll")) {
  const check = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
  box.addEventListener("scroll", check, { passive: true });
  report.redraw.push(check);
  check();
}
