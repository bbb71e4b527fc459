/* One decision: J and K step to its neighbours, Escape goes back to the list. */
(function () {
  "use strict";
  const STEPS = { j: "decision-before", k: "decision-after", escape: "decision-list" };
  document.addEventListener("keydown", (event) => {
    if (!document.getElementById("decision-list") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input,textarea,select,[contenteditable=true],details[open]")) return;
    const key = event.key.toLowerCase();
    const shown = document.querySelector(".decision[data-at]");
    const arrived = shown && location.pathname.toLowerCase().endsWith(shown.dataset.at);
    if (key !== "escape" && !arrived) return; /* the next one is on its way, these links are the last one's */
    const link = document.getElementById(STEPS[key]);
    if (link && link.getAttribute("href")) window.weighbridge.navigate(link.href);
  });
})();
