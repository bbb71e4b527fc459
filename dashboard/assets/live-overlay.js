/* Draws what lies over the heat map: cross-hair, chosen row, marks of events, the frozen moment. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});

  /* ``look`` has hovered and selected (rows), x (of the cross-hair, null for none), marks (slots) and
     cursor (slot of a frozen picture, null when live). */
  function overlay(map, look) {
    const { top, over, d, g, paint } = map;
    top.clearRect(0, 0, over.width, over.height);
    if (!map.rows) return;
    for (const [row, strength] of [[look.selected, 0.85], [look.hovered, 0.6]]) outline(map, row, strength);
    top.fillStyle = paint.tokens.mark;
    top.globalAlpha = 0.85;
    for (const slot of look.marks) {
      const x = map.xOf(slot);
      if (x < g.x0 || x >= g.x1) continue;
      for (let y = 0; y < over.height; y += 4 * d) top.fillRect(Math.round(x * d), y, Math.max(1, Math.round(d)), 2 * d);
    }
    if (look.cursor !== null) frozen(map, look.cursor);
    if (look.x !== null) {
      top.globalAlpha = 0.7;
      top.fillStyle = paint.tokens.ink;
      top.fillRect(Math.round(look.x * d), 0, Math.max(1, Math.round(d)), over.height);
    }
    top.globalAlpha = 1;
  }

  function outline(map, row, strength) {
    const k = row === undefined || row === null ? -1 : map.order.indexOf(row);
    if (k < 0) return;
    const { top, d, g, paint } = map;
    const y = map.y[k] - map.offset;
    top.globalAlpha = strength;
    top.strokeStyle = paint.tokens.ink;
    top.lineWidth = Math.max(1, Math.round(d));
    const [left, right] = [g.x0 - 2, g.small ? g.x1 + 2 : g.cells + g.scorers * 20];
    top.strokeRect(Math.round(left * d) + 0.5, y - 0.5, Math.round((right - left) * d), map.bottom[k] - map.y[k] + 1);
  }

  /* Later columns dim; they are kept, but they are not the moment that is shown. */
  function frozen(map, slot) {
    const { top, over, d, g, paint } = map;
    const x = Math.round((map.xOf(slot) + g.column / d) * d);
    top.globalAlpha = 0.66;
    top.fillStyle = paint.tokens.surface;
    top.fillRect(x, 0, Math.round(g.x1 * d) - x, over.height);
    top.globalAlpha = 1;
    top.fillStyle = paint.tokens.ink;
    top.fillRect(x - Math.round(2 * d), 0, Math.round(2 * d), over.height);
  }

  live.overlay = overlay;
})();
