/* What stands around the map: tiles, banner, the chosen node, what needs a look, what changed, the table. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const { h, draw, icon, put, clock, zone, dash, age, seconds, percent, STALE_MS } = live;
  const MOST_ROWS = 200;
  const SPARK = 100;
  const MOST_FINDINGS = 4;
  const SURE_MS = 500; // with the newest frame older than this, figures are no longer of a working feed

  function quantile(values, share) {
    if (!values.length) return NaN;
    const sorted = Float64Array.from(values).sort();
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  }

  /* How many nodes share the load if they shared it evenly: one over the sum of squared shares. */
  function effective(model) {
    let [sum, squares] = [0, 0];
    for (let row = 0; row < model.rows; row++) {
      const weight = model.weight(row);
      if (weight > 0) {
        sum += weight;
        squares += weight * weight;
      }
    }
    return squares > 0 ? (sum * sum) / squares : 0;
  }

  function statedShare(model, row) {
    let sum = 0;
    for (let k = 0; k < model.rows; k++) if (model.weight(k) > 0) sum += model.weight(k);
    return sum > 0 && model.weight(row) >= 0 ? model.weight(row) / sum : NaN;
  }

  function staleRows(model, now, limit) {
    const rows = [];
    for (let row = 0; row < model.rows; row++) if (model.age(row, 0, now) > limit) rows.push(row);
    return rows;
  }

  /* ---- tiles ---- */
  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const rate = (value) => (value < 10 ? value.toFixed(1) : whole.format(value));

  function tiles(figures, stale) {
    const { stats, lag, fps, missed, model, oldest, trouble } = figures;
    return {
      rate: trouble ? [dash, "the store cannot be read"] : stats ? [rate(stats.decisions_per_s), sampled(stats)] : [dash, "waiting for the first second"],
      lag: Number.isNaN(lag) ? [dash, "no decision in 10 s"] : [whole.format(lag), "target 400 ms"],
      frames: [stale ? "0.0" : Number.isNaN(fps) ? dash : fps.toFixed(1), `${missed} missed in 10 min`],
      nodes: effective(model) > 0 ? [effective(model).toFixed(1), `of ${model.rows}, if shared evenly`] : [dash, model.rows ? `of ${model.rows}` : "no node yet"],
      oldest: Number.isNaN(oldest) ? [dash, "no weight yet"] : [age(oldest), oldest > STALE_MS ? "not decided about since" : "all fresh"],
    };
  }

  function sampled(stats) {
    if (stats.unsampled_per_s === null) return "sampling rate unknown";
    const all = stats.unsampled_per_s > stats.decisions_per_s * 1.02;
    return all ? `about ${rate(stats.unsampled_per_s)}/s unsampled` : "all decisions, none sampled away";
  }

  const UNITS = { rate: "/s", lag: "ms", frames: "/s", nodes: "", oldest: "" };

  /* A silent feed shows no old figure as if it were new: it says what it was, and when. */
  function showTiles(find, shown, lost, silent) {
    for (const [name, [value, note]] of Object.entries(shown)) {
      const tile = find(name);
      const blank = lost && name !== "frames";
      const unit = blank || value === dash ? "" : UNITS[name];
      if (silent < SURE_MS) tile.dataset.was = `${value} ${UNITS[name]}`.trim();
      put(tile.firstChild, blank ? dash : value);
      put(tile.lastChild, unit);
      tile.classList.toggle("dim", Boolean(blank));
      put(find(`${name}-note`), blank ? `was ${tile.dataset.was || dash} at ${clock(lost)}` : note);
    }
  }

  /* ---- banner ---- */
  /* Built anew only when its kind or its actions change: figures in it count, and a button that is
     replaced between press and release never hears the click. True when it came or went. */
  function showBanner(box, told) {
    const key = told ? `${told.tone} ${told.shape} ${told.actions.map(([label]) => label)}` : "";
    const before = box.dataset.key;
    box.dataset.key = key;
    if (!told) {
      if (before) box.replaceChildren();
      return before !== key && Boolean(before);
    }
    if (before !== key) {
      const text = h("div", {}, h("b"), " ", h("span", { class: "mid" }));
      const buttons = told.actions.map(([label, act, hint]) =>
        typeof act === "string"
          ? h("a", { class: "btn sm", href: act }, label)
          : h("button", { class: "btn sm", type: "button", click: act, "aria-label": hint }, label),
      );
      const tone = told.tone === "warn" ? "" : ` ${told.tone}`;
      box.replaceChildren(
        h("div", { class: `banner${tone}` }, icon(told.shape, 16), text, h("span", { class: "x row" }, ...buttons)),
      );
    }
    put(box.querySelector("b"), told.lead);
    put(box.querySelector(".mid"), told.text);
    return !before;
  }

  /* ---- the chosen node ---- */
  /* ``past`` is the column of a frozen picture to show, undefined for the newest; scores are known only there. */
  function showNode(box, model, row, now, links, past) {
    if (row === null || row === undefined || row >= model.rows) {
      box.replaceChildren(h("header", {}, h("h2", {}, "No node chosen")), h("p", { class: "pad dim f12" }, "Point at a row, or press Up and Down."));
      box.dataset.node = "";
      return;
    }
    const name = model.nodes[row];
    const key = `${name}\n${model.columns.join("\n")}`;
    if (box.dataset.node !== key) {
      box.dataset.node = key;
      box.replaceChildren(...nodeParts(model, name, links));
    }
    const at = (what) => box.querySelector(`[data-node="${what}"]`);
    const then = past === undefined ? null : model.past(row, past);
    const weight = then ? then.value : model.weight(row);
    const old = then ? then.age : model.age(row, 0, now);
    const share = then ? NaN : statedShare(model, row);
    put(at("weight"), Number.isNaN(weight) ? dash : Number(weight.toPrecision(3)).toString());
    put(at("share"), Number.isNaN(share) ? dash : percent(share));
    put(at("age"), age(old));
    at("age").classList.toggle("warn", old > STALE_MS);
    at("spark").setAttribute("d", spark(model, row));
    model.columns.slice(1).forEach((_, k) => {
      const value = then ? NaN : model.value[row * model.cols + k + 1];
      put(at(`score-${k}`), Number.isNaN(value) ? dash : value.toFixed(3));
      at(`bar-${k}`).style.width = `${Number.isNaN(value) ? 0 : Math.max(0, Math.min(1, value)) * 100}%`;
      put(at(`age-${k}`), then ? dash : age(model.age(row, k + 1, now)));
    });
  }

  function nodeParts(model, name, links) {
    const figure = (caption, what) => h("div", {}, h("span", { class: "cap" }, caption), h("b", { "data-node": what }));
    const scorers = model.columns.slice(1).map((scorer, k) => {
      const stated = model.scorerWeights[scorer];
      const times = stated === undefined ? "" : `\u00d7 ${Number(stated.toPrecision(3))}`;
      return h(
        "tr",
        {},
        h("td", { class: "ell", title: scorer }, h("i", { class: "swatch", style: `background:var(--s${(k % 6) + 1})` }), scorer),
        h("td", { class: "num dim" }, times),
        h("td", { class: "meter" }, h("span", {}, h("i", { "data-node": `bar-${k}`, style: `background:var(--s${(k % 6) + 1})` }))),
        h("td", { class: "num", "data-node": `score-${k}` }),
        h("td", { class: "num dim", "data-node": `age-${k}` }),
      );
    });
    return [
      h("header", {}, h("h2", { class: "mono ell", title: name }, name)),
      h("div", { class: "nodev" }, figure("Weight", "weight"), figure("Stated share", "share"), figure("Age", "age")),
      h(
        "div",
        { class: "spark-box" },
        draw(
          "svg",
          { viewBox: "0 0 280 48", width: "100%", height: 48, preserveAspectRatio: "none", "aria-hidden": "true" },
          draw("path", { class: "grid", d: "M0 4.5h280M0 44.5h280" }),
          draw("path", { "data-node": "spark", fill: "none", stroke: "var(--ink-2)", "stroke-width": 1.4, "vector-effect": "non-scaling-stroke" }),
        ),
        h("div", { class: "row f11 dim spread" }, h("span", {}, "60 s"), h("span", { "data-node": "range" }, `scale 0 to ${live.scaleTop(model.top)}`)),
      ),
      scorers.length ? h("table", { class: "sig", "aria-label": `Scores of ${name}` }, h("tbody", {}, ...scorers)) : null,
      h(
        "div",
        { class: "acts" },
        h("a", { class: "btn", href: links.decisions(name) }, "Decisions here"),
        h("button", { class: "btn", type: "button", click: links.freeze }, "Freeze here"),
      ),
    ].filter(Boolean);
  }

  function spark(model, row) {
    const top = live.scaleTop(model.top);
    let path = "";
    for (let k = 0; k <= SPARK; k++) {
      const past = model.past(row, model.slot - Math.round(((SPARK - k) / SPARK) * (live.DEPTH - 1)));
      if (!past || Number.isNaN(past.value)) continue;
      const y = 44 - Math.max(0, Math.min(1, past.value / top)) * 40;
      path += `${path ? "L" : "M"}${((k / SPARK) * 280).toFixed(1)} ${y.toFixed(1)}`;
    }
    return path || "M0 0";
  }

  /* ---- needs a look ---- */
  function findings(model, now) {
    const found = [];
    const old = staleRows(model, now, 2 * STALE_MS);
    if (old.length) {
      const worst = old.reduce((a, b) => (model.age(b, 0, now) > model.age(a, 0, now) ? b : a));
      const one = old.length === 1;
      found.push({ row: worst, shape: "wait", what: one ? `${model.nodes[worst]} is stale` : `${old.length} nodes are stale`, value: age(model.age(worst, 0, now)), why: one ? "no newer decision about it has arrived" : `oldest ${model.nodes[worst]}` });
    }
    const weights = [...Array(model.rows).keys()].filter((row) => model.weight(row) >= 0);
    const sorted = weights.map((row) => model.weight(row)).sort((a, b) => a - b);
    const median = sorted[sorted.length >> 1];
    const starved = weights.filter((row) => median > 0 && model.weight(row) < 0.15 * median).sort((a, b) => model.weight(a) - model.weight(b));
    if (starved.length && starved.length < weights.length / 2) {
      const more = starved.length > 1 ? `, and ${starved.length - 1} more` : "";
      found.push({ row: starved[0], shape: "node", what: `${model.nodes[starved[0]]} starves${more}`, value: model.weight(starved[0]).toFixed(3), why: `median weight ${median.toFixed(2)}` });
    }
    return [...found, ...moved(model)].slice(0, MOST_FINDINGS);
  }

  /* The nodes whose weight moved most within the minute that is shown. */
  function moved(model) {
    const moves = [];
    for (let row = 0; row < model.rows; row++) {
      let then = null;
      for (let slot = model.slot - live.DEPTH + 1; slot < model.slot - 25 && !then; slot += 25) {
        const past = model.past(row, slot);
        if (past && past.value >= 0) then = past;
      }
      if (then) moves.push([row, model.weight(row) - then.value, then]);
    }
    const limit = 0.25 * live.scaleTop(model.top);
    const far = moves.filter(([, by]) => Math.abs(by) > limit).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    return far.slice(0, 3).map(([row, by, then]) => ({
      row,
      shape: by > 0 ? "up" : "down",
      what: `${model.nodes[row]} ${by > 0 ? "rose" : "fell"}`,
      value: `${by > 0 ? "+" : "\u2212"}${Math.abs(by).toFixed(2)}`,
      why: `weight ${then.value.toFixed(2)} at ${clock(then.time)}, now ${model.weight(row).toFixed(2)}`,
    }));
  }

  function showFindings(list, count, found, choose) {
    put(count, String(found.length));
    const key = found.map((f) => `${f.row} ${f.what}`).join("\n");
    if (list.dataset.key !== key || !list.childNodes.length) {
      list.dataset.key = key;
      const rows = found.map((f) =>
        h("li", {}, h("button", { type: "button", click: () => choose(f.row) }, icon(f.shape), h("span", { class: "med ell" }, f.what), h("span", { class: "mid num" }), h("span", { class: "d ell" }))),
      );
      list.replaceChildren(...(rows.length ? rows : [h("li", { class: "none" }, "Nothing stands out.")]));
    }
    found.forEach((f, k) => {
      put(list.children[k].querySelector(".num"), f.value);
      put(list.children[k].querySelector(".d"), f.why);
    });
  }

  /* ---- what changed ---- */
  const WORDS = { joined: "joined", left: "left", lost: "feed lost", back: "feed is back" };

  function eventText(event) {
    if (!event.names) return WORDS[event.kind];
    const [first] = event.names;
    return event.names.length === 1 ? `${first} ${WORDS[event.kind]}` : `${event.names.length} nodes ${WORDS[event.kind]}`;
  }

  function showChanges(list, events) {
    const key = events.map((e) => e.wall + e.kind).join();
    if (list.dataset.key === key && list.childNodes.length) return;
    list.dataset.key = key;
    const shape = { joined: "joined", left: "left", lost: "crit", back: "wait" };
    const rows = events.slice(-6).reverse().map((e) => h("li", {}, h("time", {}, clock(e.wall)), icon(shape[e.kind], 12), h("span", { class: "ell" }, eventText(e))));
    list.replaceChildren(...(rows.length ? rows : [h("li", { class: "none" }, "No node came or went.")]));
  }

  /* ---- the same values for those who do not see the canvas ---- */
  function showTable(table, model, order, now) {
    const body = table.tBodies[0] || table.appendChild(h("tbody"));
    const rows = order.slice(0, MOST_ROWS);
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((row, k) => {
      const line = body.rows[k] || body.appendChild(h("tr", {}, h("th", { scope: "row" }), h("td"), h("td")));
      put(line.cells[0], model.nodes[row]);
      put(line.cells[1], Number.isNaN(model.weight(row)) ? "none" : model.weight(row).toFixed(3));
      put(line.cells[2], age(model.age(row, 0, now)));
    });
    const cut = model.rows > MOST_ROWS ? `, the first ${MOST_ROWS} of ${model.rows}` : "";
    put(table.caption, `Current weight and age of each node${cut}`);
  }

  Object.assign(live, { quantile, staleRows, statedShare, tiles, showTiles, showBanner, showNode, findings, showFindings, showChanges, showTable, eventText, seconds });
})();
