// Follows a page: whenever what it shows has changed, the part that shows it is loaded again.
"use strict";
const at = document.currentScript.dataset.at;
const changes = new EventSource(`${at}/changes`);
let wanted = 0;
changes.addEventListener("changed", async () => {
  wanted += 1;
  if (wanted > 1) return;
  while (wanted > 0) {
    wanted = 1;
    const answer = await fetch(`${at}/main`).catch(() => null);
    if (answer && answer.ok) document.getElementById("main").innerHTML = await answer.text();
    wanted -= 1;
  }
});
