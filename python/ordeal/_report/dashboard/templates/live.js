// Follows a run: whenever its files have changed, the part of the page that shows them is loaded again.
"use strict";
const run = document.currentScript.dataset.run;
const changes = new EventSource(`${run}/changes`);
let wanted = 0;
changes.addEventListener("changed", async () => {
  wanted += 1;
  if (wanted > 1) return;
  while (wanted > 0) {
    wanted = 1;
    const answer = await fetch(`${run}/main`).catch(() => null);
    if (answer && answer.ok) document.getElementById("main").innerHTML = await answer.text();
    wanted -= 1;
  }
});
