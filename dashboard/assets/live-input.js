/* Pointer, keys and controls of the live page. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const { h, put, clock, age } = live;
  const COARSE = 25; // frames of one long step: 5 s

  function bind(view) {
    const over = view.find("over");
    const stop = new AbortController();
    const on = (target, name, act) => target.addEventListener(name, act, { signal: stop.signal });
    view.unbind = () => {
      stop.abort();
      view.tip.remove();
    };
    view.tip = h("div", { class: "tip", role: "presentation" });
    document.body.append(view.tip);
    on(over, "pointermove", (event) => event.pointerType !== "touch" && hover(view, event));
    on(over, "pointerleave", () => leave(view));
    on(over, "click", (event) => press(view, event));
    on(view.find("scroller"), "scroll", () => view.repaint(true));
    on(view.find("policy"), "change", (event) => view.setPolicy(event.target.value));
    on(view.find("sort"), "change", (event) => view.setSort(event.target.value));
    view.root.querySelectorAll("[data-palette]").forEach((button) => on(button, "click", () => view.setPalette(button.dataset.palette)));
    on(document, "keydown", (event) => key(view, event));
    on(document, "weighbridge:freeze", (event) => view.freeze(event.detail.frozen));
    on(document, "weighbridge:link", (event) => event.detail.url.searchParams.set("policy", view.asked.policy));
    on(window, "resize", () => view.relayout());
  }

  function leave(view) {
    view.hover = { row: null, x: null };
    view.tip.style.display = "none";
    look(view);
  }

  /* Hovering draws only the overlay and the two texts of a row, never the strip. */
  function look(view) {
    if (view.state !== "map" || !view.map.rows) return;
    view.map.hovered = view.hover.row;
    for (const k of view.map.rows) view.map.row(k, view.now(), view.pastShown());
    view.drawOver();
    live.panel(view);
  }

  function hover(view, event) {
    const hit = view.state === "map" && view.map.rows ? view.map.hit(event.clientX, event.clientY) : null;
    if (!hit) return leave(view);
    const box = view.map.base.getBoundingClientRect();
    view.hover = { row: hit.row, x: hit.slot === null ? null : event.clientX - box.left };
    describe(view, hit);
    moveTip(view, event);
    return look(view);
  }

  function moveTip(view, event) {
    const tip = view.tip.getBoundingClientRect();
    view.tip.style.left = `${Math.max(4, Math.min(innerWidth - tip.width - 8, event.clientX + 14))}px`;
    view.tip.style.top = `${Math.max(4, Math.min(innerHeight - tip.height - 8, event.clientY + 14))}px`;
  }

  function describe(view, { row, slot }) {
    const model = view.shown;
    const now = view.now();
    const past = slot === null ? null : model.past(row, slot);
    const weight = past ? past.value : model.weight(row);
    const time = past ? past.time : performance.timeOrigin + now;
    const term = (name, value) => [h("dt", {}, name), h("dd", { class: "num" }, value)];
    const current = slot === null || slot >= model.slot - 5;
    const scores = model.columns.slice(1).map((name, k) => [name, model.value[row * model.cols + k + 1]]);
    const terms = [
      ...term("weight", Number.isNaN(weight) ? "none" : Number(weight.toFixed(3)).toFixed(3)),
      ...term("age", age(past ? past.age : model.age(row, 0, now))),
      ...(current ? scores.slice(0, 8).flatMap(([name, value]) => term(name, Number.isNaN(value) ? "none" : value.toFixed(3))) : []),
    ];
    view.tip.replaceChildren(
      h("div", { class: "mono med" }, model.nodes[row]),
      h("div", { class: "dim f11" }, Number.isNaN(time) ? "before this page was opened" : `${clock(time, true)} ${live.zone()}`),
      h("dl", { class: "kv" }, ...terms),
    );
    view.tip.style.display = "block";
  }

  /* A mouse has seen the node before it clicks; a finger has not, so its first tap chooses. */
  function press(view, event) {
    const hit = view.map.rows ? view.map.hit(event.clientX, event.clientY) : null;
    if (!hit) return;
    const name = view.shown.nodes[hit.row];
    const touch = event.pointerType === "touch";
    if (!touch || view.wanted === name) {
      view.open(name);
      return;
    }
    view.pick(hit.row);
    describe(view, hit);
    moveTip(view, event);
  }

  function key(view, event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("a,button,input,select,textarea,summary,[contenteditable=true]")) return;
    const step = event.shiftKey ? COARSE : 1;
    const acts = {
      " ": () => view.freeze(!view.frozen),
      ArrowDown: () => view.move(1),
      ArrowUp: () => view.move(-1),
      ArrowLeft: () => view.frozen && view.step(-step),
      ArrowRight: () => view.frozen && view.step(step),
      Enter: () => view.wanted && view.open(view.wanted),
      Escape: () => view.frozen && view.freeze(false),
    };
    if (view.state !== "map" || !acts[event.key]) return;
    if (acts[event.key]() === false) return;
    if (event.key !== "Escape") event.preventDefault();
  }

  const methods = {
    lag() {
      const now = performance.now();
      this.lags = this.lags.filter(([at]) => now - at < 10000);
      return live.quantile(this.lags.map(([, lag]) => lag), 0.95);
    },

    /* The node shown before anybody chose one: what needs a look, or the first row. */
    suggest() {
      const [first] = live.findings(this.shown, this.now());
      this.suggested = this.shown.row.has(this.suggested) ? this.suggested : this.shown.nodes[first ? first.row : this.arranged.order[0]];
      return this.suggested;
    },

    choose(name) {
      this.wanted = name;
      this.map.selected = this.shown.row.get(name);
      if (window.weighbridge) window.weighbridge.replaceQuery({ node: name });
    },

    panel() {
      live.panel(this);
    },

    /* The column shown when a frozen picture was stepped back; undefined for the newest one. */
    pastShown() {
      return this.frozen && this.cursor !== this.frozen.slot ? this.cursor : undefined;
    },

    open(name) {
      const { decisions } = this.root.dataset;
      window.weighbridge.navigate(decisions + this.query({ node: name }));
    },

    pick(row) {
      this.choose(this.shown.nodes[row]);
      if (this.map.reveal(row)) this.repaint(true);
      look(this);
    },

    move(by) {
      const { order } = this.map;
      const at = order.indexOf(this.map.selected);
      const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : Math.max(0, Math.min(order.length - 1, at + by));
      this.pick(order[next]);
    },

    freeze(frozen) {
      if (frozen === Boolean(this.frozen) || (frozen && this.state !== "map")) return live.panel(this);
      this.frozen = frozen ? this.model.still(performance.now()) : null;
      this.cursor = frozen ? this.frozen.slot : null;
      this.rearrange();
      return live.panel(this);
    },

    step(by) {
      this.cursor = Math.max(this.frozen.slot - this.map.g.columns + 1, Math.min(this.frozen.slot, this.cursor + by));
      this.repaint(true);
      live.panel(this);
    },

    setPolicy(policy) {
      this.asked.policy = policy;
      this.wanted = null;
      this.known = undefined;
      this.born = performance.now();
      this.renew();
      this.rearrange();
      window.weighbridge.replaceQuery({ policy, node: null });
      this.feed.again();
    },

    setSort(sort) {
      this.sort = sort;
      this.find("sort").value = sort;
      window.weighbridge.replaceQuery({ sort: sort === "name" ? null : sort });
      this.rearrange();
      live.panel(this);
    },

    setPalette(palette) {
      this.palette = palette;
      window.weighbridge.replaceQuery({ palette: palette === "safe" ? "safe" : null });
      this.retheme();
    },
  };

  Object.assign(live, { bind, methods });
})();
