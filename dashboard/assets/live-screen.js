/* Parts of the live page that follow the geometry of the map: column heads, flags, legend, policy menu. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const { h, icon, percent } = live;
  const MOST_FLAGS = 4;

  function heads(box, map, frozen) {
    const { g, model } = map;
    const at = (text, style, extra = {}) => h("span", { style, ...extra }, text);
    const made = [at("node", "left:0")];
    const perSecond = 1000 / model.period;
    const secondsShown = g.columns / perSecond;
    for (let s = 0; s <= secondsShown - 4; s += 10) {
      const x = g.x1 - (s * perSecond * g.column) / map.d;
      const text = s ? `\u2212${s} s` : frozen ? "end" : "now";
      made.push(at(text, `left:${x}px;transform:translateX(-${s ? 50 : 100}%)`));
    }
    for (let j = 1; j <= g.scorers; j++) {
      const name = model.columns[j];
      made.push(at(name.length > 12 ? `${name.slice(0, 11)}\u2026` : name, `left:${g.cells + (j - 1) * 20 + 9}px`, { class: "rot", title: name }));
    }
    made.push(at("weight", `left:${g.weight - 38}px;width:40px;text-align:right`));
    if (g.shareWidth > 60) {
      const tick = h("b", {}, "|");
      const dot = h("b", { class: "dot" }, "\u2022");
      made.push(h("span", { class: "share-key", style: `left:${g.share}px` }, tick, " stated ", dot, " realised share"));
      made.push(at("0", `left:${g.share}px`), at(percent(map.shareTop), `left:${g.share + g.shareWidth}px;transform:translateX(-100%)`, { "data-share-top": true }));
    }
    box.replaceChildren(...made);
    box.classList.toggle("flat", g.scorers === 0);
  }

  /* Flags above the strip say what its dotted lines mean. */
  function flags(box, map, events) {
    const { g } = map;
    const seen = events.map((event) => [event, map.xOf(event.slot)]).filter(([, x]) => x >= g.x0 && x < g.x1 - 8);
    const key = g.small ? "" : seen.map(([event, x]) => `${event.kind} ${event.wall} ${Math.round(x)}`).join();
    const top = box.querySelector("[data-share-top]");
    if (top) live.put(top, percent(map.shareTop));
    if (box.dataset.flags === key) return;
    box.dataset.flags = key;
    box.querySelectorAll(".flag").forEach((flag) => flag.remove());
    if (g.small) return;
    const shape = { joined: "joined", left: "left", lost: "crit", back: "wait" };
    let free = g.x1;
    for (const [event, x] of seen.reverse().slice(0, MOST_FLAGS)) {
      const flip = g.x1 - x < 130; // near the right end a flag stands left of its line
      const room = (flip ? x - g.x0 : free - x) - 4;
      if (room < 30 || (flip && free < g.x1)) continue;
      free = flip ? x - 130 : x;
      const side = flip ? `right:calc(100% - ${x}px)` : `left:${x}px`;
      const text = h("span", { class: "ell" }, live.eventText(event));
      box.append(h("div", { class: flip ? "flag flip" : "flag", style: `${side};max-width:${Math.min(room, 130)}px` }, icon(shape[event.kind], 10), text));
    }
  }

  function legend(root, paint, palette, scale) {
    const canvas = root.querySelector('[data-live="ramp"]');
    const ctx = canvas.getContext("2d");
    paint.colours.forEach((rgb, k) => {
      ctx.fillStyle = `rgb(${rgb})`;
      ctx.fillRect((k / 256) * canvas.width, 0, 1, canvas.height);
    });
    live.put(root.querySelector('[data-live="ramp-top"]'), String(Number(scale.toPrecision(2))));
    root.querySelectorAll(".ages i").forEach((i) => i.style.setProperty("--sample", `var(--${palette}-50)`));
    root.querySelectorAll("[data-palette]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.palette === palette)));
  }

  function fillPolicies(select, policies, chosen) {
    const names = policies.includes(chosen) || !chosen ? policies : [chosen, ...policies];
    const key = `${chosen}\n${names.join("\n")}`;
    if (select.dataset.key === key) return;
    select.dataset.key = key;
    select.replaceChildren(...names.map((name) => h("option", { value: name, selected: name === chosen }, name)));
    select.value = chosen;
    select.disabled = names.length < 2;
  }

  Object.assign(live, { heads, flags, legend, fillPolicies });
})();
