/* Decides what the live page says about itself: loading, empty, live, stale, frozen, in trouble. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const { h, put, clock, zone, seconds, STALE_MS } = live;

  const STATES = {
    loading: () => [h("p", { class: "dim" }, "Waiting for the first frame\u2026")],
    unreachable: (view) => [
      h("h2", {}, "The live feed cannot be reached"),
      h("p", {}, "The dashboard does not answer on its WebSocket. The other pages may still work; this one keeps trying."),
      h("div", { class: "row" }, h("button", { class: "btn", type: "button", click: () => view.feed.again() }, "Retry now"), h("a", { class: "btn", href: view.root.dataset.health }, "Open health")),
    ],
    empty: (view) => [
      h("h2", {}, "No decisions yet"),
      h("p", {}, "Weights appear here as soon as a scheduler sends its first decision. Nothing has to be set on this page."),
      h("div", { class: "row" }, h("a", { class: "btn primary", href: view.root.dataset.setup }, "Set up a sender")),
    ],
    none: (view) => [
      h("h2", {}, "No decisions of this policy"),
      h("p", {}, `The store holds no weights of the policy ${view.asked.policy}${view.asked.service ? ` and the service ${view.asked.service}` : ""}.`),
      h("div", { class: "row" }, h("button", { class: "btn", type: "button", click: () => view.setPolicy("") }, "Show another policy")),
    ],
  };

  function stateOf(view) {
    const waited = performance.now() - view.born;
    if (view.known === undefined) return waited > live.PATIENCE_MS ? "unreachable" : "loading";
    if (view.model.rows || view.frozen) return "map";
    if (!view.known) return view.trouble ? "empty-trouble" : "loading";
    return view.policies && view.policies.length ? "none" : "empty";
  }

  function showState(view) {
    const state = stateOf(view);
    if (state === view.state) return;
    view.state = state;
    const box = view.find("state");
    const make = STATES[state === "empty-trouble" ? "loading" : state];
    box.replaceChildren(...(make ? make(view) : []));
    box.hidden = state === "map";
    view.find("body").hidden = state !== "map";
    view.find("aside").hidden = state !== "map";
    if (state === "map") view.relayout();
  }

  function bannerOf(view, silent) {
    const { root, model, feed } = view;
    if (view.lostSince) {
      const next = feed.retryAt - performance.now();
      const retry = next > 0 ? `trying again in ${Math.ceil(next / 1000)} s` : "trying again now";
      return {
        tone: "crit", shape: "crit",
        lead: `Stale since ${clock(view.lostSince)} ${zone()} (${seconds(silent)}).`,
        text: `No frame from the server; cells keep fading, ${retry}.`,
        actions: [["Retry now", () => feed.again()], ["Open health", root.dataset.health]],
      };
    }
    if (view.frozen) return frozenBanner(view);
    if (view.trouble) {
      return { tone: "crit", shape: "crit", lead: view.trouble, text: "Weights are the last known and keep fading. The feed tries again five times a second.", actions: [["Open health", root.dataset.health]] };
    }
    const old = model.ready ? live.staleRows(model, performance.now(), 2 * STALE_MS) : [];
    return old.length ? partialBanner(view, old) : null;
  }

  function partialBanner(view, old) {
    const { model, root } = view;
    const now = performance.now();
    const youngest = Math.min(...old.map((row) => model.age(row, 0, now)));
    const since = `${clock(Date.now() - youngest)} ${zone()}`;
    const fresh = model.rows - old.length;
    const rest = fresh ? `the other ${fresh} ${fresh === 1 ? "node is" : "nodes are"} fresh` : "no node is fresh, though the feed works";
    const sort = view.sort === "age" || !fresh ? [] : [["Show oldest first", () => view.setSort("age")]];
    return {
      tone: "warn", shape: "wait",
      lead: `${old.length} of ${model.rows} nodes stale since ${since}.`,
      text: `No newer decision about ${old.length === 1 ? "it" : "them"} has arrived. Weights are the last known; ${rest}.`,
      actions: [...sort, ["Source health", root.dataset.health]],
    };
  }

  function frozenBanner(view) {
    const { frozen, cursor, model } = view;
    const back = frozen.slot - cursor;
    const at = performance.timeOrigin + frozen.frozenAt - back * frozen.period;
    const behind = performance.timeOrigin + performance.now() - at;
    const ahead = Math.max(0, model.slot - cursor);
    return {
      tone: "info", shape: "pause",
      lead: `Frozen at ${clock(at, true)} ${zone()}.`,
      text: `${seconds(behind)} behind live. Recording goes on: ${ahead} frames ahead of this one.`,
      actions: [["\u2039", () => view.step(-1), "One frame back"], ["\u203a", () => view.step(1), "One frame forward"], ["Back to live", () => view.freeze(false)]],
    };
  }

  function announce(view, told) {
    const kind = told ? `${told.tone} ${told.shape}` : "";
    if (kind === view.announced) return;
    if (view.announced !== undefined && window.weighbridge) window.weighbridge.announce(told ? `${told.lead} ${told.text}` : "The view is live.");
    view.announced = kind;
  }

  function showControl(view, silent) {
    if (!window.weighbridge || !window.weighbridge.setLive) return;
    if (view.frozen) window.weighbridge.setLive({ state: "frozen" });
    else if (view.lostSince) window.weighbridge.setLive({ state: "stale", text: `Stale ${seconds(silent).replace(/\.\d/, "")}` });
    else window.weighbridge.setLive({ state: "live" });
  }

  /* Everything around the canvas; called once a second and whenever something happens. */
  function panel(view) {
    if (view.gone) return;
    const now = performance.now();
    const silent = now - (view.feed.lastFrame || view.born);
    showState(view);
    const told = bannerOf(view, silent);
    if (live.showBanner(view.find("banner"), told)) view.relayout();
    announce(view, told);
    showControl(view, silent);
    view.root.dataset.state = view.lostSince ? "stale" : view.frozen ? "frozen" : view.state === "map" ? "live" : view.state;
    const shown = view.shown;
    const at = view.now();
    if (!view.frozen) {
      const figures = { stats: view.stats, lag: view.lag(), fps: perSecond(view, now), model: shown, trouble: view.trouble };
      figures.missed = view.feed.missedLately(now) + (view.lostSince ? Math.floor(silent / shown.period) : 0);
      figures.oldest = shown.rows && view.seen ? Math.max(view.stats?.oldest_ms ?? 0, ...oldest(shown, at)) : NaN;
      live.showTiles(view.find, live.tiles(figures, Boolean(view.lostSince)), view.lostSince, silent);
    }
    if (view.state !== "map") return;
    const row = view.hover.row ?? view.map.selected ?? null;
    live.showNode(view.find("node"), shown, row, at, view.links, view.pastShown());
    live.showFindings(view.find("findings"), view.find("findings-count"), live.findings(shown, at), (chosen) => view.pick(chosen));
    live.showChanges(view.find("changes"), shown.events);
    put(view.find("left-out"), view.leftOut ? `${view.leftOut} more nodes are not drawn` : "");
  }

  /* Frames a second over the last five; NaN in the first second, when there is nothing to count yet. */
  function perSecond(view, now) {
    const watched = Math.min(5000, now - (view.firstFrame ?? now));
    return watched < 1000 ? NaN : (view.seen.filter((t) => now - t < watched).length * 1000) / watched;
  }

  function oldest(model, now) {
    let most = 0;
    for (let row = 0; row < model.rows; row++) most = Math.max(most, model.age(row, 0, now) || 0);
    return [most];
  }

  live.panel = panel;
})();
