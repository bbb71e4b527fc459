/* The WebSocket of the live page: connects, answers for gaps, measures travel time, comes back by itself. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const PING_MS = 2000;
  const SILENT_MS = 5000; // a connection without a frame for this long is given up and opened anew
  const WAITS = [250, 500, 1000, 2000, 5000];
  const MEMORY_MS = 30000;

  /* Travel time of frames without comparing clocks. ``serverMs`` ticks as steadily as performance.now(), so
     the smallest difference seen is the fastest trip; what a frame has above it is time spent in queues.
     The fastest trip itself is taken as half the round trip of a ping. */
  class Travel {
    constructor() {
      this.fastest = [Infinity, Infinity];
      this.turned = 0;
      this.rtts = [];
    }

    late(serverMs, now) {
      const trip = now - serverMs;
      if (now - this.turned > MEMORY_MS) {
        this.fastest = [this.fastest[1], Infinity];
        this.turned = now;
      }
      this.fastest[1] = Math.min(this.fastest[1], trip);
      return trip - Math.min(...this.fastest) + this.oneWay();
    }

    pong(rtt) {
      this.rtts.push(rtt);
      if (this.rtts.length > 5) this.rtts.shift();
    }

    oneWay() {
      return this.rtts.length ? Math.min(...this.rtts) / 2 : 0;
    }
  }

  class Feed {
    /* ``on`` has layout(message), frame(frame, now, late, steps), text(message) and state(). */
    constructor(address, on) {
      this.address = address;
      this.on = on;
      this.tries = 0;
      this.frames = 0;
      this.lastFrame = NaN;
      this.missed = [];
      this.retryAt = NaN;
      this.closed = false;
      this.open();
    }

    open() {
      clearTimeout(this.waiting);
      this.retryAt = NaN;
      this.sequence = null;
      this.travel = new Travel();
      this.opened = performance.now();
      const url = new URL(this.address(), location.href);
      url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
      const socket = (this.socket = new WebSocket(url));
      socket.binaryType = "arraybuffer";
      socket.onopen = () => this.ping();
      socket.onmessage = (event) => socket === this.socket && this.heard(event.data);
      socket.onclose = () => socket === this.socket && this.lost();
      clearInterval(this.beating);
      this.beating = setInterval(() => this.watch(), PING_MS);
    }

    close() {
      this.closed = true;
      clearTimeout(this.waiting);
      clearInterval(this.beating);
      this.drop();
    }

    drop() {
      const socket = this.socket;
      this.socket = null;
      if (socket) socket.close();
    }

    /* Open anew at once: another policy, or somebody pressed Retry. */
    again() {
      this.drop();
      this.tries = 0;
      this.open();
      this.on.state();
    }

    lost() {
      this.socket = null;
      clearInterval(this.beating);
      if (this.closed) return;
      const wait = WAITS[Math.min(this.tries++, WAITS.length - 1)] * (0.8 + 0.4 * Math.random());
      this.retryAt = performance.now() + wait;
      this.waiting = setTimeout(() => this.open(), wait);
      this.on.state();
    }

    watch() {
      const since = Math.max(this.opened, Number.isNaN(this.lastFrame) ? 0 : this.lastFrame);
      if (performance.now() - since > SILENT_MS) {
        this.drop();
        this.lost();
      } else this.ping();
    }

    send(message) {
      if (this.socket && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    }

    ping() {
      this.send({ type: "ping", t: performance.now() });
    }

    heard(data) {
      const now = performance.now();
      if (typeof data === "string") {
        const message = JSON.parse(data);
        if (message.type === "pong") this.travel.pong(now - message.t);
        else if (message.type === "layout") this.on.layout(message);
        else this.on.text(message);
        return;
      }
      const frame = live.decode(data);
      const steps = this.count(frame, now);
      this.lastFrame = now;
      this.tries = 0;
      this.frames++;
      this.on.frame(frame, now, this.travel.late(frame.serverMs, now), steps);
    }

    /* How many beats lie between this frame and the one before; more than one means some were missed. */
    count(frame, now) {
      let steps = 1;
      if (this.sequence !== null) {
        steps = (frame.sequence - this.sequence) >>> 0;
        if (steps > 1) {
          this.miss(now, steps - 1);
          if (!frame.full) this.send({ type: "full" });
        }
      } else if (!Number.isNaN(this.lastFrame)) {
        this.miss(now, Math.max(0, Math.round((now - this.lastFrame) / live.PERIOD_MS) - 1));
      }
      this.sequence = frame.sequence;
      return steps;
    }

    miss(now, count) {
      if (count > 0) this.missed.push([now, count]);
    }

    /* Frames missed in the last ten minutes. */
    missedLately(now) {
      this.missed = this.missed.filter(([at]) => now - at < 600000);
      return this.missed.reduce((sum, [, count]) => sum + count, 0);
    }
  }

  Object.assign(live, { Feed, PERIOD_MS: 200 });
})();
