/* One decision: J and K step to its neighbours, Escape goes back to the list. */
(function () {
  "use strict";
  const STEPS = { j: "decision-before", k: "decision-after", escape: "decision-list" };
  document.addEventListener("keydown", (event) => {
    if (!document.getElementById("decision-list") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input,textarea,select,[contenteditable=true],details[open]")) return;
    const link = document.getElementById(STEPS[event.key.toLowerCase()]);
    if (link && link.getAttribute("href")) window.weighbridge.navigate(link.href);
  });
})();
