// What the page can do without: copy buttons, a filter of the steps, j and k, and the source next to its step.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const made = (tag, text) => Object.assign(document.createElement(tag), {textContent: text});
  for (const each of document.querySelectorAll(".copied")) {
    const button = made("button", "Copy");
    if (each.localName === "pre") each.before(button);
    else each.after(button);
    button.onclick = async () => {
      await navigator.clipboard.writeText(each.textContent);
      button.textContent = "Copied";
    };
  }
  for (const steps of document.querySelectorAll(".steps")) {
    const rows = [...steps.querySelectorAll("li")];
    if (rows.length > 5) {
      const filter = Object.assign(made("input", ""), {type: "search", placeholder: "Filter steps", ariaLabel: "Filter steps"});
      steps.querySelector("h2, h4").after(filter);
      filter.oninput = () => {
        const words = filter.value.toLowerCase();
        for (const row of rows) row.hidden = !row.firstChild.firstChild.textContent.toLowerCase().includes(words);
      };
    }
    const show = (step) => {
      for (const link of step.querySelectorAll(".pane a[href^='#s-']")) {
        const source = document.getElementById(link.hash.slice(1)).cloneNode(true);
        source.removeAttribute("id");
        link.parentNode.replaceWith(source);
      }
    };
    steps.querySelectorAll("details[open]").forEach(show);
    steps.addEventListener("toggle", (event) => show(event.target), true);
  }
  document.addEventListener("keydown", (event) => {
    if (!"jk".includes(event.key) || event.ctrlKey || event.metaKey || event.target.matches("input")) return;
    const steps = document.activeElement.closest(".steps") || document.querySelector(".finding[open] .steps, .steps");
    const rows = [...(steps || document).querySelectorAll(steps ? "li:not([hidden]) > details" : ".finding")];
    const now = rows.findIndex((row) => (steps ? row.open : row.contains(document.activeElement)));
    const at = now + (event.key === "j" ? 1 : -1);
    if (!rows[at]) return;
    rows[at].open = true;
    rows[at].firstChild.focus();
  });
  const reveal = () => {
    const row = location.hash && document.getElementById(location.hash.slice(1));
    if (!row) return;
    for (let each = row; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    row.scrollIntoView({block: "nearest"});
  };
  addEventListener("hashchange", reveal);
  reveal();
});
