// Follows a page: the part that may change is loaded again while somebody looks at it.
"use strict";
const at = document.currentScript.dataset.at;
setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch(`${at}/main`).catch(() => null);
  const text = answer && answer.ok ? await answer.text() : "";
  const main = document.getElementById("main");
  if (text && text !== main.shown) main.innerHTML = main.shown = text;
}, 2000);
