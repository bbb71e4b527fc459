/* Shares of the nodes: stated by the weights now, realised over the last minute as the API tells it. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const LEAST_DECISIONS = 30; // fewer than this say nothing about shares

  /* Wilson's interval of a share at 95 %: it stays within 0 and 1 and holds for small counts. */
  function interval(won, all) {
    const z2 = 1.96 ** 2;
    const share = won / all;
    const middle = (share + z2 / (2 * all)) / (1 + z2 / all);
    const half = (1.96 / (1 + z2 / all)) * Math.sqrt((share * (1 - share)) / all + z2 / (4 * all * all));
    return [middle - half, middle + half];
  }

  /* From the items of /api/v1/nodes; several services that use one node are added up. */
  function sharesOf(items) {
    const counted = new Map();
    let all = 0;
    for (const item of items) {
      counted.set(item.node, (counted.get(item.node) || 0) + item.decisions);
      all += item.decisions;
    }
    const shares = new Map();
    for (const [node, won] of counted) {
      const [low, high] = all ? interval(won, all) : [0, 0];
      shares.set(node, { realised: all >= LEAST_DECISIONS ? won / all : null, low, high });
    }
    return shares;
  }

  async function fetchShares(address) {
    const answer = await fetch(address, { headers: { accept: "application/json" } });
    if (!answer.ok) throw new Error(`shares: ${answer.status}`);
    return sharesOf((await answer.json()).items);
  }

  /* A tick for the stated share (of the weights now), a dot with its interval for the realised one. */
  function drawShares(map) {
    const { ctx, g, d, model, paint } = map;
    const stated = map.order.map((row) => model.weight(row));
    const sum = stated.reduce((total, weight) => total + (weight > 0 ? weight : 0), 0);
    const largest = [...map.shares.values()].reduce((most, share) => Math.max(most, share.realised || 0), 0);
    const most = stated.reduce((top, weight) => Math.max(top, weight > 0 && sum > 0 ? weight / sum : 0), largest);
    map.shareTop = Math.max(0.01, live.scaleTop(most));
    const left = Math.round((g.share - 6) * d);
    ctx.fillStyle = paint.tokens.surface;
    ctx.fillRect(left, 0, map.base.width - left, map.base.height);
    ctx.fillStyle = paint.tokens.line;
    for (let k = 0; k <= 4; k++) ctx.fillRect(Math.round((g.share + (k / 4) * g.shareWidth) * d), 0, 1, map.base.height);
    const x = (share) => (g.share + Math.min(1, share / map.shareTop) * g.shareWidth) * d;
    for (const k of map.rows) {
      const share = map.shares.get(model.nodes[map.order[k]]);
      if (share && share.realised !== null) dot(map, x, share, (map.y[k] + map.bottom[k]) / 2 - map.offset);
      if (!(stated[k] >= 0) || !(sum > 0)) continue;
      ctx.fillStyle = paint.tokens.ink;
      ctx.fillRect(Math.round(x(stated[k] / sum)), map.y[k] - map.offset, Math.max(1, Math.round(1.5 * d)), map.bottom[k] - map.y[k]);
    }
  }

  function dot({ ctx, d, paint }, x, share, middle) {
    ctx.fillStyle = paint.tokens["ink-2"];
    ctx.globalAlpha = 0.28;
    ctx.fillRect(x(share.low), middle - 1.5 * d, x(share.high) - x(share.low), 3 * d);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(x(share.realised), middle, 2.4 * d, 0, 7);
    ctx.fill();
  }

  Object.assign(live, { drawShares, fetchShares });
})();
