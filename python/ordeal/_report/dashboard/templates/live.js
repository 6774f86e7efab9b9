// Follows a page: the part that may change is loaded again while somebody looks at it.
"use strict";
const at = document.currentScript.dataset.at;
setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch(`${at}/main`).catch(() => null);
  const text = answer && answer.ok ? await answer.text() : "";
  const main = document.getElementById("main");
  if (!text || text === main.shown) return;
  // What was chosen by keyboard, and what was opened, stays so.
  const all = (what) => [...main.querySelectorAll(what)];
  const chosen = all("a, summary").indexOf(document.activeElement);
  const opened = all("details").map((each) => each.open);
  main.innerHTML = main.shown = text;
  all("details").forEach((each, number) => { each.open = opened[number]; });
  all("a, summary")[chosen]?.focus({preventScroll: true});
}, 2000);
