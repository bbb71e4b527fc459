/* The list of decisions in the browser: cells with a drawing, filters to address, keys.
   Cells put senders' text into text nodes only. */
(function () {
  "use strict";
  const make = window.React.createElement;
  const clientside = (window.dash_clientside = window.dash_clientside || {});
  const functions = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const pad = (value, width) => String(value).padStart(width, "0");

  /* ---- cells ---- */
  functions.DecisionTime = function (props) {
    const zones = window.weighbridge.zones;
    window.React.useSyncExternalStore(zones.subscribe, zones.get);
    if (!props.data) return null;
    const at = new Date(Math.floor(props.data.ms));
    if (Number.isNaN(at.getTime())) return make("span", { className: "dim" }, "unknown");
    const local = zones.get() !== "UTC";
    const take = (name) => at[(local ? "get" : "getUTC") + name]();
    const day = `${take("FullYear")}-${pad(take("Month") + 1, 2)}-${pad(take("Date"), 2)}`;
    const clock = `${pad(take("Hours"), 2)}:${pad(take("Minutes"), 2)}:${pad(take("Seconds"), 2)}.${pad(take("Milliseconds"), 3)}`;
    const old = Date.now() - at.getTime() > 86400000;
    return make("time", { dateTime: at.toISOString(), title: `${day} ${clock} ${zones.name()}` }, old ? `${day.slice(5)} ${clock.slice(0, 8)}` : clock);
  };

  functions.DecisionWeight = function (props) {
    if (!props.data) return null;
    const { weight, bar } = props.data;
    const drawn = bar === null ? null : make("i", { "aria-hidden": true }, make("b", { style: { width: `${bar}%` } }));
    return make("span", { className: weight === "unknown" ? "wbar dim" : "wbar" }, drawn, weight);
  };

  const ICONS = { error: "M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.500-3.500V5.300zM8 5v3.500M8 10.900v.1", dropped: "M8 2.3 14.2 13H1.8zM8 6.5v3M8 11.3v.1" };
  functions.DecisionOutcome = function (props) {
    if (!props.data) return null;
    const outcome = props.data.outcome;
    if (!outcome) return make("span", { className: "dim", title: "No outcome has arrived" }, "unknown");
    const path = ICONS[outcome];
    if (!path) return make("span", { className: "mid" }, outcome);
    const shape = { width: 12, height: 12, viewBox: "0 0 16 16", fill: "none", stroke: "currentColor", strokeWidth: 1.5, "aria-hidden": true };
    return make("span", { className: `badge ${outcome === "error" ? "crit" : "warn"}` }, make("svg", shape, make("path", { d: path })), outcome);
  };

  functions.DecisionTrace = function (props) {
    if (!props.data) return null;
    const { trace, href } = props.data;
    return make("a", { href, title: trace, tabIndex: -1 }, trace);
  };

  /* ---- filters to the address ---- */
  const KEYS = ["policy", "node", "outcome", "text", "weight_min", "weight_max", "confidence_min", "confidence_max"];
  clientside.decisions = {
    apply(...values) {
      const current = new URLSearchParams(values[KEYS.length] || "");
      const changes = {};
      KEYS.forEach((key, index) => {
        const value = values[index] === null || values[index] === undefined ? "" : String(values[index]).trim();
        if (value !== (current.get(key) || "")) changes[key] = value;
      });
      if (Object.keys(changes).length) window.weighbridge.setQuery(changes);
      return clientside.no_update;
    },
  };

  /* ---- opening and moving ---- */
  const find = (selector) => document.querySelector(selector);
  const grid = () => {
    try {
      return find("#decisions-grid .ag-root") && window.dash_ag_grid ? window.dash_ag_grid.getApi("decisions-grid") : null;
    } catch (error) {
      return null; /* it is being drawn */
    }
  };

  function open(index, event) {
    const row = grid()?.getDisplayedRowAtIndex(index);
    if (!row?.data) return;
    event.preventDefault();
    try {
      sessionStorage.setItem("weighbridge-decision", row.data.id);
    } catch (error) {
      /* without storage the list opens at its top */
    }
    if (event.ctrlKey || event.metaKey || event.button === 1) window.open(row.data.href, "_blank", "noopener");
    else window.weighbridge.navigate(row.data.href);
  }

  function move(step) {
    const api = grid();
    if (!api || !api.getDisplayedRowCount()) return;
    const at = api.getFocusedCell();
    const index = at ? Math.min(Math.max(at.rowIndex + step, 0), api.getDisplayedRowCount() - 1) : 0;
    api.ensureIndexVisible(index);
    api.setFocusedCell(index, "ms");
  }

  function toggleFilters(force) {
    const panel = find("#decisions-filters");
    const button = find("#decisions-filter-toggle");
    if (!panel || !button) return;
    const on = force ?? !panel.classList.contains("open");
    panel.classList.toggle("open", on);
    button.setAttribute("aria-expanded", String(on));
    if (on) panel.querySelector("input")?.focus();
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest("#decisions-filter-toggle")) return toggleFilters();
    const row = event.target.closest("#decisions-grid .ag-row");
    if (!row || String(getSelection())) return undefined;
    return open(Number(row.getAttribute("row-index")), event);
  });

  document.addEventListener("keydown", (event) => {
    if (!find("#decisions-body") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input,textarea,select,[contenteditable=true]")) return;
    const key = event.key.toLowerCase();
    const at = grid()?.getFocusedCell();
    if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
    else if (key === "enter" && at && event.target.closest(".ag-root, body") && !event.target.closest("a,button")) open(at.rowIndex, event);
    else if (key === "f") {
      event.preventDefault();
      toggleFilters(true);
    }
  });
})();
