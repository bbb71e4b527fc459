/* Small makers of elements. Text of senders reaches the page through them as text nodes only. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const SVG = "http://www.w3.org/2000/svg";
  const ICONS = {
    pause: "M5.5 3.5v9M10.5 3.5v9",
    warn: "M8 2.3 14.2 13H1.8zM8 6.5v3M8 11.3v.1",
    crit: "M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.5-3.5V5.3zM8 5v3.5M8 10.9v.1",
    wait: "M8 2a6 6 0 1 1 0 12A6 6 0 1 1 8 2M8 5v3.2l1.8 1.2",
    back: "M9.5 4.5 6 8l3.5 3.5",
    forward: "M6.5 4.5 10 8l-3.5 3.5",
    joined: "M8 3.5v9M3.5 8h9",
    left: "M3.5 8h9",
    down: "M8 3v9M4.5 8.5 8 12l3.5-3.5",
    up: "M8 13V4M4.5 7.5 8 4l3.5 3.5",
    node: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1",
  };

  /* A sender's text fit for a line of ours: characters that steer the line become U+FFFD, as on the other pages. */
  const plain = (text) => (typeof text === "string" ? text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd") : text);

  function h(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") made.addEventListener(name, value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined).map(plain));
    return made;
  }

  function draw(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function icon(name, size = 14) {
    const dashes = name === "wait" ? { "stroke-dasharray": "2.5 2.2" } : {};
    return draw(
      "svg",
      { viewBox: "0 0 16 16", width: size, height: size, fill: "none", stroke: "currentColor", "stroke-width": 1.5,
        "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" },
      draw("path", { d: ICONS[name], ...dashes }),
    );
  }

  /* Set text only when it differs, so that nothing is laid out again in vain. */
  function put(element, text) {
    const shown = plain(text);
    if (element && element.textContent !== shown) element.textContent = shown;
  }

  function clock(ms, exact = false) {
    const at = new Date(ms);
    if (Number.isNaN(at.getTime())) return dash;
    const zones = window.weighbridge && window.weighbridge.zones;
    const local = zones && zones.get() !== "UTC";
    const shown = local ? new Date(ms - at.getTimezoneOffset() * 60000) : at;
    return shown.toISOString().slice(11, exact ? 23 : 19);
  }

  const zone = () => {
    const zones = window.weighbridge && window.weighbridge.zones;
    return zones ? zones.name() : "UTC";
  };

  const dash = "\u2013";
  const seconds = (ms) => (ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : ms < 120000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60000)} min`);
  const age = (ms) => (Number.isNaN(ms) ? dash : ms < 0 ? "within the second" : ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms));
  const percent = (share) => `${(share * 100).toFixed(1)} %`;

  Object.assign(live, { h, draw, icon, plain, put, clock, zone, dash, seconds, age, percent });
})();
