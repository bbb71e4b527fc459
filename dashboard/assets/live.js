/* Mounts the live page when Dash inserts it and takes it down when it leaves. */
(function () {
  "use strict";
  const live = window.weighbridgeLive;
  Object.assign(live.View.prototype, live.methods);
  let view = null;

  function look() {
    if (view && !view.root.isConnected) {
      view.end();
      view = null;
    }
    const root = document.querySelector("[data-live-root]");
    if (root && !view) view = new live.View(root);
  }

  new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
  look();
})();
