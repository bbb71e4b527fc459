/* The live page at work: one model, one feed, one map, and the browser's own clock that ages them. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const { h, put, clock, zone, seconds, STALE_MS } = live;
  const SILENT_MS = 1500; // a feed without a frame for this long is stale
  const FADE_MS = 100;
  const RING = 4096;
  const PATIENCE_MS = 3000;

  const hooks = (window.__weighbridgeLive = { frames: 0, missed: 0, lagMs: [], paintMs: [] });

  function keep(ring, value) {
    ring.push(value);
    if (ring.length > RING) ring.splice(0, RING / 4);
  }

  class View {
    constructor(root) {
      this.root = root;
      this.find = (name) => root.querySelector(`[data-live="${name}"]`);
      const query = new URLSearchParams(location.search);
      this.asked = { policy: query.get("policy") || "", service: root.dataset.service || "" };
      this.sort = ["weight", "age"].includes(query.get("sort")) ? query.get("sort") : "name";
      this.palette = query.get("palette") === "safe" ? "safe" : "heat";
      this.wanted = query.get("node");
      this.born = performance.now();
      this.state = "loading";
      this.lags = []; // [when painted, lag] of the last ten seconds
      this.pending = null;
      this.paintedAt = 0;
      this.missing = 0; // columns opened by the timer since the last frame
      this.cursor = null;
      this.hover = { row: null, x: null };
      this.map = new live.HeatMap({ scroller: this.find("scroller"), spacer: this.find("spacer"), base: this.find("map"), over: this.find("over") });
      this.begin();
    }

    begin() {
      this.renew();
      this.feed = new live.Feed(() => this.address(), {
        layout: (message) => this.onLayout(message),
        frame: (...args) => this.onFrame(...args),
        text: (message) => this.onText(message),
        state: () => this.panel(),
      });
      this.timers = [setInterval(() => this.tick(), FADE_MS), setInterval(() => this.second(), 1000), setInterval(() => this.shares(), 5000)];
      this.themed = new MutationObserver(() => this.retheme());
      this.themed.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
      this.sized = new ResizeObserver(() => this.relayout());
      this.sized.observe(this.find("body"));
      document.fonts.ready.then(() => this.relayout());
      this.links = {
        decisions: (name) => this.root.dataset.decisions + this.query({ node: name }),
        freeze: () => this.freeze(true),
      };
      this.find("sort").value = this.sort;
      live.bind(this);
      this.retheme();
      this.panel();
    }

    end() {
      this.unbind();
      this.feed.close();
      this.timers.forEach(clearInterval);
      this.themed.disconnect();
      this.sized.disconnect();
      cancelAnimationFrame(this.frame);
      this.gone = true;
    }

    /* Forget what is shown: another policy begins. */
    renew() {
      this.model = new live.Model();
      this.frozen = null;
      this.stats = null;
      this.trouble = null;
      this.filled = false;
      this.map.selected = undefined;
      this.map.shares = new Map();
    }

    get shown() {
      return this.frozen || this.model;
    }

    now() {
      return this.frozen ? this.frozen.frozenAt : performance.now();
    }

    query(changes = {}) {
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries({ ...this.asked, ...changes })) if (value) query.set(key, value);
      return query.toString() ? `?${query}` : "";
    }

    address() {
      return this.root.dataset.ws + this.query();
    }

    /* ---- the feed speaks ---- */
    onLayout(message) {
      if (!this.asked.policy && message.policy) this.asked.policy = message.policy;
      this.waiting = !message.ready; // a server that has just started has not read the store yet
      if (this.waiting) this.known = this.known || false;
      if (this.waiting) return this.panel();
      this.policies = message.policies;
      const changed = this.model.setLayout(message);
      this.known = true;
      this.leftOut = message.left_out;
      if (this.wanted && this.model.row.has(this.wanted)) this.choose(this.wanted);
      if (changed) this.rearrange();
      live.fillPolicies(this.find("policy"), this.policies, this.asked.policy);
      this.panel();
      if (message.nodes.length && !this.filled) this.backfill();
      return undefined;
    }

    onFrame(frame, now, late, steps) {
      const lost = this.lostSince;
      const open = Math.max(0, steps - this.missing);
      this.missing = Math.max(0, this.missing - steps);
      if (lost) this.missing = 0;
      const fits = this.model.apply(frame, now, late, lost ? 0 : open);
      if (!fits && !this.waiting) this.feed.send({ type: "full" });
      hooks.frames++;
      this.firstFrame ??= now;
      hooks.missed = this.feed.missedLately(now);
      this.seen = (this.seen || []).filter((at) => now - at < 5000).concat(now);
      if (fits && !frame.full && frame.index.length) this.note(frame);
      if (lost) {
        this.lostSince = null;
        this.model.events.push({ kind: "back", slot: this.model.slot, wall: Date.now() });
        this.panel();
      }
      this.repaint();
    }

    /* Remember when the weights in this frame were decided, to know their lag once they are painted. */
    note(frame) {
      this.pending = this.pending || [];
      const { cols, at } = this.model;
      for (let k = 0; k < frame.index.length && this.pending.length < 256; k++) {
        if (frame.index[k] % cols === 0) this.pending.push(at[frame.index[k]]);
      }
    }

    onText(message) {
      if (message.type === "stats") this.stats = message;
      else if (message.type === "trouble") this.trouble = message.message;
      else if (message.type === "recovered") this.trouble = null;
      if (message.type !== "stats") this.panel();
    }

    async backfill() {
      this.filled = true;
      const { model } = this;
      try {
        const answer = await fetch(this.root.dataset.weights + this.query({ window: "60s" }));
        if (!answer.ok) return;
        const { history } = await answer.json();
        if (model !== this.model || !history) return;
        model.backfill(history, performance.now());
        this.relayout();
      } catch (error) {
        this.filled = !(error instanceof TypeError); // no connection: the next layout asks again
      }
    }

    async shares() {
      if (document.hidden || this.frozen || !this.asked.policy || this.map.g === undefined || this.map.g.shareWidth < 60) return;
      const model = this.model;
      try {
        const shares = await live.fetchShares(this.root.dataset.nodes + this.query({ from: "-60s" }));
        if (model === this.model) this.map.shares = shares;
      } catch (error) {
        this.map.shares = new Map(); // old shares would look like new ones
      }
    }

    /* ---- the browser's own clock ---- */
    tick() {
      const now = performance.now();
      const { model, feed } = this;
      if (feed.frames) {
        const due = feed.lastFrame + (this.missing + 1.6) * model.period;
        const steps = now > due ? Math.floor((now - due) / model.period) + 1 : 0;
        if (steps) {
          model.open(steps, now);
          this.missing += steps;
        }
      }
      const silent = now - (feed.lastFrame || this.born);
      if (!this.lostSince && feed.frames && silent > SILENT_MS) {
        this.lostSince = Date.now() - silent;
        this.filled = false;
        model.events.push({ kind: "lost", slot: model.slot - Math.round(silent / model.period), wall: this.lostSince });
        this.panel();
      }
      if (!this.frozen && now - this.paintedAt > 0.8 * FADE_MS) this.repaint();
    }

    second() {
      if (this.sort !== "name" && this.hover.row === null && !this.frozen) this.rearrange();
      if (this.model.top > this.map.scale && !this.frozen) this.rearrange();
      this.panel();
      if (!this.frozen) live.showTable(this.find("table"), this.model, this.map.order || [], this.now());
    }

    /* ---- painting ---- */
    repaint(whole = false) {
      this.whole = this.whole || whole;
      if (this.frame || this.gone) return;
      this.frame = requestAnimationFrame(() => this.paint());
    }

    rearrange() {
      this.arranged = null;
      this.repaint(true);
    }

    relayout() {
      this.laid = false;
      this.repaint(true);
    }

    retheme() {
      this.colours = live.paint(this.palette);
      live.legend(this.root, this.colours, this.palette, this.map.scale);
      this.relayout();
    }

    paint() {
      this.frame = 0;
      if (this.state !== "map") return;
      const began = performance.now();
      const { map } = this;
      const now = this.now();
      if (!this.arranged || !this.laid) {
        this.arranged = live.arrange(this.shown, this.sort, now);
        map.scale = live.scaleTop(this.shown.top);
        map.selected = this.shown.row.get(this.wanted ?? this.suggest());
        this.hover = { row: null, x: null };
        map.layout(this.shown, this.arranged, this.colours, this.roomHeight());
        live.heads(this.find("heads"), map, this.frozen !== null);
        live.legend(this.root, this.colours, this.palette, map.scale);
        Object.assign(this, { laid: true, whole: true });
      }
      map.hovered = this.hover.row;
      if (this.whole) map.draw(now, this.cursor ?? undefined);
      else map.update(now, this.cursor ?? undefined);
      this.whole = false;
      this.paintedAt = began;
      this.drawOver();
      keep(hooks.paintMs, performance.now() - began);
      this.measure();
    }

    drawOver() {
      const marks = this.shown.events.map((event) => event.slot);
      live.overlay(this.map, { hovered: this.hover.row, selected: this.map.selected, x: this.hover.x, marks, cursor: this.frozen ? this.cursor : null });
      live.flags(this.find("heads"), this.map, this.shown.events);
    }

    /* The message arrives once the frame that was just drawn has been handed to the compositor. */
    measure() {
      const decided = this.pending;
      this.pending = null;
      if (!decided || document.hidden) return;
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        const painted = performance.now();
        for (const at of decided) {
          keep(hooks.lagMs, painted - at);
          this.lags.push([painted, painted - at]);
        }
        channel.port1.close();
      };
      channel.port2.postMessage(0);
    }

    roomHeight() {
      const top = this.find("scroller").getBoundingClientRect().top + window.scrollY;
      const rail = innerWidth <= 760 ? 68 : 0;
      return Math.max(160, innerHeight - top - 20 - rail);
    }
  }

  Object.assign(live, { View, SILENT_MS, PATIENCE_MS });
})();
