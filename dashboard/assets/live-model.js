/* What the live page knows: the newest matrix, and a ring of the weights of the last minute.

   Times are of performance.now(). A column of the ring is one beat of the feed (200 ms): a frame opens the
   next one, and when no frame comes the browser's own timer does, so that a silent feed goes on ageing. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const DEPTH = 300; // columns: 60 s at five a second
  const RECALL = 25; // how many columns back a late weight may still be put
  const CERTAIN_MS = 300; // a weight the feed brought this fresh is better than the mean of its second
  const WITHIN_SECOND = -1; // age of a value of which only the second is known

  class Model {
    constructor() {
      this.period = 200;
      this.nodes = [];
      this.columns = ["weight"];
      this.scorerWeights = {};
      this.ready = false;
      this.slot = DEPTH - 1; // number of the newest column; the ones before it are there to be filled with history
      this.top = 0; // largest weight seen
      this.touched = Infinity; // oldest column that changed since it was last painted
      this.events = [];
      this.resize([], ["weight"]);
    }

    get rows() {
      return this.nodes.length;
    }

    get cols() {
      return this.columns.length;
    }

    /* New rows or columns; what stays keeps its values and its past. True when rows or columns changed. */
    setLayout(layout) {
      const hadNodes = this.ready && this.rows > 0;
      const before = new Set(this.nodes);
      const after = new Set(layout.nodes);
      const joined = layout.nodes.filter((name) => !before.has(name));
      const left = this.nodes.filter((name) => !after.has(name));
      const scorers = layout.columns.join("\n") !== this.columns.join("\n");
      this.period = layout.period_ms || this.period;
      this.scorerWeights = layout.scorer_weights || {};
      this.ready = Boolean(layout.ready);
      if (joined.length || left.length || scorers) this.resize(layout.nodes, layout.columns);
      if (hadNodes && joined.length) this.note("joined", joined);
      if (hadNodes && left.length) this.note("left", left);
      return Boolean(joined.length || left.length || scorers);
    }

    resize(nodes, columns) {
      const old = { row: this.row || new Map(), columns: this.columns, value: this.value, at: this.at };
      const [rows, cols] = [nodes.length, columns.length];
      const value = new Float32Array(rows * cols).fill(NaN);
      const at = new Float64Array(rows * cols).fill(NaN);
      const ring = { value: new Float32Array(rows * DEPTH).fill(NaN), age: new Float32Array(rows * DEPTH).fill(NaN) };
      const from = columns.map((name, k) => (k ? old.columns.indexOf(name, 1) : 0)); // a scorer may be called weight too
      nodes.forEach((name, row) => {
        const was = old.row.get(name);
        if (was === undefined) return;
        from.forEach((column, k) => {
          if (column < 0) return;
          value[row * cols + k] = old.value[was * old.columns.length + column];
          at[row * cols + k] = old.at[was * old.columns.length + column];
        });
        for (const part of ["value", "age"]) {
          ring[part].set(this.ring[part].subarray(was * DEPTH, (was + 1) * DEPTH), row * DEPTH);
        }
      });
      if (!this.ring) ring.time = new Float64Array(DEPTH).fill(NaN);
      else ring.time = this.ring.time;
      Object.assign(this, { nodes, columns, value, at, ring, row: new Map(nodes.map((name, k) => [name, k])) });
    }

    note(kind, names) {
      this.events.push({ kind, names, slot: this.slot, wall: Date.now() });
      if (this.events.length > 50) this.events.shift();
    }

    /* Take a frame in. ``late`` is what travelling added to its ages. ``steps`` columns open. */
    apply(frame, now, late, steps) {
      if (frame.rows !== this.rows || frame.cols !== this.cols) return false;
      this.open(steps, now);
      if (frame.full) {
        this.value.fill(NaN);
        this.at.fill(NaN);
      }
      const { index, age, value } = frame;
      for (let k = 0; k < index.length; k++) {
        const cell = index[k];
        this.value[cell] = value[k];
        this.at[cell] = now - age[k] - late;
        if (cell % this.cols === 0) this.place(cell / this.cols, value[k], this.at[cell], now);
      }
      return true;
    }

    /* Put a weight into the columns since it was decided. What travelled for 300 ms belongs two columns
       back; so only the newest columns are faint for the travel, and an older one only where nobody
       decided anything. */
    place(row, weight, at, now) {
      if (weight > this.top) this.top = weight;
      const first = Math.max(this.slot - Math.floor((now - at) / this.period), this.slot - RECALL, 0);
      this.touched = Math.min(this.touched, first);
      for (let slot = first; slot <= this.slot; slot++) {
        const place = row * DEPTH + (slot % DEPTH);
        const age = Math.max(0, now - (this.slot - slot) * this.period - at);
        if (this.ring.age[place] < age) continue;
        this.ring.value[place] = weight;
        this.ring.age[place] = age;
      }
    }

    /* Open ``steps`` columns; all but the last hold what was known before. */
    open(steps, now) {
      const first = Math.max(0, steps - DEPTH);
      for (let k = first; k < steps; k++) this.record(this.slot + 1 + k, now - (steps - 1 - k) * this.period);
      this.slot += steps;
    }

    record(slot, now) {
      const place = slot % DEPTH;
      const { value, age, time } = this.ring;
      time[place] = performance.timeOrigin + now;
      for (let row = 0, cell = 0; row < this.rows; row++, cell += this.cols) {
        value[row * DEPTH + place] = this.value[cell];
        age[row * DEPTH + place] = now - this.at[cell];
      }
    }

    /* Put second-by-second history wherever the ring knows less; gaps in it age, they do not vanish. The
       newest second of the history is the one that was going on when it was asked for. */
    backfill(history, now) {
      const perSecond = Math.round(1000 / this.period);
      const last = history.seconds.length - 1;
      const oldest = this.slot - DEPTH + 1;
      for (let slot = oldest; slot <= this.slot; slot++) this.ring.time[slot % DEPTH] = performance.timeOrigin + now - (this.slot - slot) * this.period;
      history.nodes.forEach((name, k) => {
        const row = this.row.get(name);
        if (row === undefined) return;
        let [known, gap] = [NaN, 0];
        history.weight[k].forEach((weight, second) => {
          gap = weight === null ? gap + 1000 : 0;
          if (weight !== null) known = weight;
          const start = this.slot - (last - second) * perSecond - (perSecond >> 1);
          for (let slot = Math.max(start, oldest); slot < start + perSecond && slot <= this.slot; slot++) {
            const place = row * DEPTH + (slot % DEPTH);
            if (this.ring.age[place] < Math.max(gap, CERTAIN_MS)) continue;
            this.ring.value[place] = known;
            this.ring.age[place] = gap || WITHIN_SECOND;
          }
        });
        if (known > this.top) this.top = known;
      });
    }

    age(row, column, now) {
      return now - this.at[row * this.cols + column];
    }

    weight(row) {
      return this.value[row * this.cols];
    }

    past(row, slot) {
      const place = row * DEPTH + (slot % DEPTH);
      const known = slot > this.slot - DEPTH && slot <= this.slot && slot >= 0;
      return known ? { value: this.ring.value[place], age: this.ring.age[place], time: this.ring.time[slot % DEPTH] } : null;
    }

    /* A copy that no longer changes, for a frozen picture. */
    still(now) {
      const copy = Object.create(Model.prototype);
      Object.assign(copy, this, {
        value: this.value.slice(),
        at: this.at.slice(),
        ring: { value: this.ring.value.slice(), age: this.ring.age.slice(), time: this.ring.time.slice() },
        events: this.events.slice(),
        frozenAt: now,
      });
      return copy;
    }
  }

  /* The part of a name before its running number, so that gpu-a100-05 belongs to gpu-a100. */
  function groupOf(name) {
    const found = /^(.*?)[-_.:/]?\d+$/.exec(name);
    return found ? found[1] : "";
  }

  const byName = new Intl.Collator("en", { numeric: true }).compare;

  /* Rows in the order they are drawn, and whether a gap goes before each. */
  function arrange(model, sort, now) {
    const order = model.nodes.map((_, row) => row);
    const names = (a, b) => byName(model.nodes[a], model.nodes[b]);
    const low = (value) => (Number.isNaN(value) ? -Infinity : value);
    if (sort === "weight") order.sort((a, b) => low(model.weight(b)) - low(model.weight(a)) || names(a, b));
    else if (sort === "age") order.sort((a, b) => Math.floor(model.age(b, 0, now) / 1000) - Math.floor(model.age(a, 0, now) / 1000) || names(a, b));
    else order.sort(names);
    const groups = order.map((row) => groupOf(model.nodes[row]));
    const several = sort === "name" && new Set(groups).size > 1 && new Set(groups).size <= order.length / 2;
    return { order, gaps: groups.map((group, k) => several && k > 0 && group !== groups[k - 1]) };
  }

  Object.assign(live, { Model, arrange, DEPTH });
})();
