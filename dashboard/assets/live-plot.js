/* Draws the heat map: labels, the scrolling strip (node by time), scorer cells, weights and shares.

   Everything is in device pixels. The strip is a ring of columns in a canvas of its own: a beat paints one
   column into it and copies it over in at most two pieces, whatever its width. Cells and texts are drawn
   again only when what they show has changed. Only the rows in view are drawn, so the number of nodes
   costs nothing; the canvas sticks to the top of the box that scrolls. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const { DEPTH, STEPS, STALE_MS } = live;
  const CELL = 20;
  const MOST_SCORERS = 8;
  const HATCH = 8;

  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const modulo = (value, by) => ((value % by) + by) % by;
  const dash = "\u2013";

  class HeatMap {
    constructor({ scroller, spacer, base, over }) {
      Object.assign(this, { scroller, spacer, base, over });
      this.ctx = base.getContext("2d", { alpha: false });
      this.top = over.getContext("2d");
      this.strip = document.createElement("canvas");
      this.stripCtx = this.strip.getContext("2d", { alpha: false });
      this.scale = 1;
      this.shares = new Map();
      this.shareTop = 1;
    }

    /* ---- geometry ---- */
    layout(model, arrangement, paint, roomHeight) {
      Object.assign(this, { model, paint, order: arrangement.order });
      const d = (this.d = Math.max(1, window.devicePixelRatio || 1));
      const width = this.scroller.clientWidth;
      const small = width < 560;
      const g = (this.g = { width, small });
      this.ctx.font = this.font(10.5);
      const longest = model.nodes.slice(0, 400).reduce((most, name) => Math.max(most, name.length), 4);
      const glyph = this.ctx.measureText("0").width / d;
      g.label = clamp(longest * glyph + 8, 64, small ? 104 : 190);
      g.scorers = small ? 0 : Math.min(MOST_SCORERS, model.cols - 1);
      const right = (g.scorers ? g.scorers * CELL + 12 : 6) + 42;
      const room = width - g.label - right - (small ? 0 : 150);
      g.column = Math.max(1, Math.round(clamp(Math.floor((room * d) / DEPTH) / d, 2, 6) * d)); // device px
      g.columns = clamp(Math.floor(((width - g.label - right - (small ? 0 : 110)) * d) / g.column), 10, DEPTH);
      g.x0 = Math.round(g.label * d) / d;
      g.x1 = g.x0 + (g.columns * g.column) / d;
      g.cells = g.x1 + 12;
      g.weight = (g.scorers ? g.cells + g.scorers * CELL : g.x1 + 4) + 36;
      g.share = g.weight + 16;
      g.shareWidth = small ? 0 : width - g.share - 6;
      this.placeRows(arrangement, roomHeight);
      this.size();
    }

    placeRows({ order, gaps }, roomHeight) {
      const { g, d } = this;
      const breaks = gaps.filter(Boolean).length;
      const room = g.small && order.length <= 100 ? Infinity : roomHeight;
      const fitting = (room - breaks * 6) / Math.max(1, order.length);
      g.row = g.small ? 14 : clamp(Math.floor(fitting * 4) / 4, 8.75, 22);
      this.y = new Float64Array(order.length);
      this.bottom = new Float64Array(order.length);
      let y = 0;
      order.forEach((_, k) => {
        if (gaps[k]) y += 6;
        this.y[k] = Math.round(y * d);
        y += g.row;
        this.bottom[k] = Math.round(y * d) - Math.max(1, Math.round(d));
      });
      g.content = Math.ceil(y);
      g.view = Math.max(40, Math.min(g.content, Math.max(120, room)));
    }

    size() {
      const { g, d } = this;
      this.scroller.style.maxHeight = `${g.view}px`;
      this.spacer.style.height = `${g.content}px`;
      for (const canvas of [this.base, this.over]) {
        canvas.width = Math.round(g.width * d);
        canvas.height = Math.round(g.view * d);
        canvas.style.width = `${g.width}px`;
        canvas.style.height = `${g.view}px`;
      }
      this.over.style.marginTop = `-${g.view}px`;
      this.strip.width = DEPTH * g.column;
      this.strip.height = this.base.height;
      this.image = this.stripCtx.createImageData(this.strip.width, this.strip.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.hatch = this.hatchPattern();
    }

    font(px) {
      return `500 ${px * this.d}px "JetBrains Mono", ui-monospace, monospace`;
    }

    hatchPattern() {
      const side = Math.round((HATCH / 2) * this.d);
      const tile = document.createElement("canvas");
      tile.width = tile.height = side;
      const ctx = tile.getContext("2d");
      ctx.strokeStyle = this.paint.tokens.surface;
      ctx.lineWidth = 1.3 * this.d;
      for (const shift of [-side, 0, side]) {
        ctx.beginPath();
        ctx.moveTo(shift, side);
        ctx.lineTo(shift + side, 0);
        ctx.stroke();
      }
      return this.ctx.createPattern(tile, "repeat");
    }

    /* ---- whole ---- */
    draw(now, cursor) {
      const { ctx, base, model } = this;
      this.offset = Math.round(this.scroller.scrollTop * this.d);
      const inView = (k) => this.bottom[k] > this.offset && this.y[k] < this.offset + base.height;
      this.rows = this.order.map((_, k) => k).filter(inView);
      this.drawn = new Int32Array(this.order.length * model.cols).fill(-2);
      this.said = new Map();
      this.sharesAt = -Infinity;
      ctx.fillStyle = this.paint.tokens.surface;
      ctx.fillRect(0, 0, base.width, base.height);
      this.pixels.fill(this.paint.pixelOf("surface"));
      for (let slot = model.slot - this.g.columns + 1; slot <= model.slot; slot++) this.column(slot);
      this.stripCtx.putImageData(this.image, 0, 0);
      this.painted = model.slot;
      this.update(now, cursor);
    }

    /* ---- what changed since ---- */
    update(now, cursor) {
      const { model } = this;
      const from = Math.max(Math.min(this.painted, model.touched), model.slot - this.g.columns + 1);
      for (let slot = from; slot <= model.slot; slot++) {
        this.column(slot);
        const x = modulo(slot, DEPTH) * this.g.column;
        this.stripCtx.putImageData(this.image, 0, 0, x, 0, this.g.column, this.strip.height);
      }
      this.painted = model.slot;
      model.touched = Infinity;
      this.blit();
      const past = cursor !== undefined && cursor !== model.slot;
      for (const k of this.rows) this.row(k, now, past ? cursor : undefined);
      if (this.g.shareWidth > 60 && now - this.sharesAt > 950) {
        this.sharesAt = now;
        live.drawShares(this);
      }
    }

    column(slot) {
      const { model, pixels, paint, g } = this;
      const place = modulo(slot, DEPTH);
      const width = this.strip.width;
      const surface = paint.pixelOf("surface");
      const empty = paint.pixelOf("hatch");
      const x0 = place * g.column;
      for (const k of this.rows) {
        const at = this.order[k] * DEPTH + place;
        const weight = slot < 0 ? NaN : model.ring.value[at];
        const age = model.ring.age[at];
        const top = Math.max(0, this.y[k] - this.offset);
        const bottom = Math.min(this.strip.height, this.bottom[k] - this.offset);
        const known = !Number.isNaN(weight);
        const colour = known ? paint.pixel[this.index(weight / this.scale, age)] : surface;
        for (let y = top; y < bottom; y++) pixels.fill(colour, y * width + x0, y * width + x0 + g.column);
        if (!known && slot % 4 === 0) this.speck((top + bottom) >> 1, x0, empty);
        if (known && age > STALE_MS) this.stripe(slot, x0, top, bottom, surface);
      }
    }

    speck(y, x0, colour) {
      if (y < this.strip.height) this.pixels.fill(colour, y * this.strip.width + x0, y * this.strip.width + x0 + this.g.column);
    }

    stripe(slot, x0, top, bottom, colour) {
      const step = Math.round(HATCH * this.d);
      const thick = Math.max(1, Math.round(1.4 * this.d));
      const shift = modulo(slot * this.g.column, step);
      for (let y = top; y < bottom; y++) {
        if (modulo(y + this.offset + shift, step) < thick) {
          this.pixels.fill(colour, y * this.strip.width + x0, y * this.strip.width + x0 + this.g.column);
        }
      }
    }

    index(share, age) {
      const step = clamp(Math.round(share * (STEPS - 1)), 0, STEPS - 1);
      return this.paint.level(age) * STEPS + step;
    }

    blit() {
      const { g, ctx, strip } = this;
      const x = Math.round(g.x0 * this.d);
      const first = modulo(this.model.slot - g.columns + 1, DEPTH);
      const head = Math.min(g.columns, DEPTH - first);
      const height = strip.height;
      ctx.drawImage(strip, first * g.column, 0, head * g.column, height, x, 0, head * g.column, height);
      const rest = (g.columns - head) * g.column;
      if (rest > 0) ctx.drawImage(strip, 0, 0, rest, height, x + head * g.column, 0, rest, height);
    }

    row(k, now, past) {
      const { model, g } = this;
      const row = this.order[k];
      const then = past === undefined ? null : model.past(row, past);
      const weight = then ? then.value : model.weight(row);
      const stale = (then ? then.age : model.age(row, 0, now)) > STALE_MS;
      for (let j = 1; j <= g.scorers; j++) this.cell(k, row, j, now, past !== undefined);
      const bright = row === this.selected || row === this.hovered;
      const colour = bright ? "ink" : stale ? "warn" : "ink-2";
      this.say(k, 0, g.x0 - 4, this.fit(live.plain(model.nodes[row])), colour, "left");
      this.say(k, g.weight - 38, 40, live.weightText(weight, this.scale), colour, "right");
    }

    cell(k, row, column, now, blank) {
      const { model, ctx, g, d } = this;
      const value = blank ? NaN : model.value[row * model.cols + column];
      const age = model.age(row, column, now);
      const stale = age > STALE_MS;
      const index = Number.isNaN(value) ? -1 : this.index(value, age) * 2 + (stale ? 1 : 0);
      if (this.drawn[k * model.cols + column] === index) return;
      this.drawn[k * model.cols + column] = index;
      const x = Math.round((g.cells + (column - 1) * CELL) * d);
      const y = this.y[k] - this.offset;
      const height = this.bottom[k] - this.y[k];
      ctx.fillStyle = index < 0 ? this.paint.tokens.surface : this.paint.css[index >> 1];
      ctx.fillRect(x, y, Math.round((CELL - 2) * d), height);
      if (index < 0) {
        ctx.fillStyle = this.paint.tokens.hatch;
        ctx.fillRect(x + Math.round(6 * d), y + (height >> 1), Math.round(6 * d), 1);
      } else if (stale) {
        ctx.fillStyle = this.hatch;
        ctx.fillRect(x, y, Math.round((CELL - 2) * d), height);
      }
    }

    /* One text of a row; drawn again only when it or its colour changed. */
    say(k, x, width, text, colour, align) {
      const key = `${k} ${align}`;
      const now = `${colour} ${text}`;
      if (this.said.get(key) === now) return;
      this.said.set(key, now);
      const { ctx, d, g } = this;
      const y = this.y[k] - this.offset;
      ctx.fillStyle = this.paint.tokens.surface;
      ctx.fillRect(Math.round(x * d), y, Math.round(width * d), this.bottom[k] - this.y[k] + Math.round(d));
      ctx.font = this.font(Math.min(10.5, g.row));
      ctx.textBaseline = "middle";
      ctx.textAlign = align;
      ctx.fillStyle = this.paint.tokens[colour];
      ctx.fillText(text, Math.round((align === "left" ? x : x + width) * d), y + (g.row * d) / 2);
    }

    /* The end of a name tells nodes apart, so a name that is too long loses its beginning. */
    fit(name) {
      const room = Math.floor((this.g.x0 - 6) / 6.35);
      return name.length <= room ? name : `\u2026${name.slice(-(room - 1))}`;
    }

    /* ---- where is the pointer ---- */
    hit(clientX, clientY) {
      const box = this.base.getBoundingClientRect();
      const [x, y] = [clientX - box.left, (clientY - box.top) * this.d + this.offset];
      const k = this.order.findIndex((_, place) => y >= this.y[place] && y < this.bottom[place] + this.d);
      if (k < 0 || x < 0 || x > this.g.width) return null;
      const inStrip = x >= this.g.x0 && x < this.g.x1;
      const back = Math.floor(((this.g.x1 - x) * this.d) / this.g.column);
      return { row: this.order[k], slot: inStrip ? this.model.slot - back : null };
    }

    xOf(slot) {
      return this.g.x1 - ((this.model.slot - slot + 1) * this.g.column) / this.d;
    }

    /* Bring a row into view; true when that scrolled. */
    reveal(row) {
      const k = this.order.indexOf(row);
      if (k < 0) return false;
      const [top, bottom] = [this.y[k] / this.d, this.bottom[k] / this.d];
      const before = this.scroller.scrollTop;
      if (top < before) this.scroller.scrollTop = top - 4;
      else if (bottom > before + this.g.view) this.scroller.scrollTop = bottom - this.g.view + 4;
      return this.scroller.scrollTop !== before;
    }
  }

  live.HeatMap = HeatMap;
  live.weightText = (value, scale) => {
    if (Number.isNaN(value)) return dash;
    if (scale <= 0.1) return value.toFixed(3);
    return scale <= 1 ? value.toFixed(2) : Number(value.toPrecision(3)).toString();
  };
})();
