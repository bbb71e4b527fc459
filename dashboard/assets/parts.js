/* Three small React components that Dash lacks: inline SVG, an instant, a pulse. See components/svg.py. */
(function () {
  "use strict";
  const React = window.React;
  const make = React.createElement;

  /* Only drawing elements and drawing attributes: nothing here can load, link or run anything. */
  const TAGS = new Set(["g", "path", "rect", "circle", "line", "polyline", "polygon", "text", "tspan", "title"]);
  const REFUSED = /^(on|href|xlink|src|style|dangerously)/i;

  function allowed(attributes) {
    const kept = {};
    for (const [name, value] of Object.entries(attributes || {})) {
      if (!REFUSED.test(name)) kept[name] = value;
    }
    return kept;
  }

  function draw(nodes) {
    return (nodes || [])
      .filter((item) => TAGS.has(item.tag))
      .map((item, key) => make(item.tag, { key, ...allowed(item.attrs) }, item.text, ...draw(item.nodes)));
  }

  function Svg(props) {
    const { id, nodes, viewBox, width, height, className, style, label, attrs } = props;
    const about = label ? { role: "img", "aria-label": label } : { "aria-hidden": true };
    return make("svg", { id, viewBox, width, height, className, style, ...allowed(attrs), ...about }, ...draw(nodes));
  }

  /* The zone is "UTC" or "local"; changing it redraws every instant on the page. */
  const listeners = new Set();
  const zones = {
    get: () => document.documentElement.dataset.zone || "UTC",
    name: () => (zones.get() === "UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone || "local"),
    set(zone) {
      document.documentElement.dataset.zone = zone;
      listeners.forEach((listener) => listener(zone));
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  const pad = (value, width = 2) => String(value).padStart(width, "0");

  function written(ms, form) {
    const at = new Date(ms);
    if (Number.isNaN(at.getTime())) return "unknown";
    const local = zones.get() !== "UTC";
    const take = (name) => at[(local ? "get" : "getUTC") + name]();
    const clock = `${pad(take("Hours"))}:${pad(take("Minutes"))}:${pad(take("Seconds"))}`;
    if (form === "time") return clock;
    const day = `${take("FullYear")}-${pad(take("Month") + 1)}-${pad(take("Date"))}`;
    return `${day} ${clock}` + (form === "exact" ? `.${pad(take("Milliseconds"), 3)}` : "");
  }

  function When(props) {
    React.useSyncExternalStore(zones.subscribe, zones.get);
    const at = new Date(props.ms);
    const exact = Number.isNaN(at.getTime()) ? undefined : at.toISOString();
    const title = exact && `${written(props.ms, "exact")} ${zones.name()}`;
    return make("time", { id: props.id, className: props.className, dateTime: exact, title }, written(props.ms, props.form));
  }

  /* Counts only while somebody looks, and never runs ahead of the answers. */
  function Pulse(props) {
    const latest = React.useRef(props);
    latest.current = props;
    React.useEffect(() => {
      let asked = performance.now();
      const timer = setInterval(() => {
        const { n = 0, answered = 0, patience_ms = 15000, period_ms = 2000, setProps } = latest.current;
        const now = performance.now();
        const due = now - asked >= period_ms - 20 && (answered >= n || now - asked >= patience_ms);
        if (!due || document.hidden) return;
        asked = now;
        setProps({ n: n + 1 });
      }, 250);
      return () => clearInterval(timer);
    }, []);
    return null;
  }

  window.weighbridge_parts = { Svg, When, Pulse };
  window.weighbridge = Object.assign(window.weighbridge || {}, { zones });
})();
