/* Decodes the binary frame of the live feed; docs/live-feed.md and dashboard/frames.py describe it. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const MAGIC = 0x4d484257; // "WBHM" read as a little-endian u32
  const FULL = 0;

  /* The typed arrays below lie on the buffer itself, so nothing is copied. All browsers that run on a
     big-endian machine are gone, and with them the need to swap bytes. */
  function decode(buffer) {
    if (buffer.byteLength < 24) throw new Error("cut frame");
    const head = new DataView(buffer);
    const version = head.getUint8(4);
    if (head.getUint32(0, true) !== MAGIC || (version !== 1 && version !== 2)) throw new Error("unknown frame");
    const frame = {
      full: head.getUint8(5) === FULL,
      rows: head.getUint16(6, true),
      cols: head.getUint16(8, true),
      sequence: head.getUint32(12, true),
      serverMs: head.getFloat64(16, true),
    };
    if (version === 1) {
      const count = head.getUint16(10, true);
      frame.index = new Uint16Array(buffer, 24, count);
      frame.age = new Uint16Array(buffer, 24 + 2 * count, count);
      frame.value = new Float32Array(buffer, 24 + 4 * count, count);
    } else {
      const count = head.getUint32(24, true);
      frame.index = new Uint32Array(buffer, 32, count);
      frame.value = new Float32Array(buffer, 32 + 4 * count, count);
      frame.age = new Uint16Array(buffer, 32 + 8 * count, count);
    }
    return frame;
  }

  live.decode = decode;
})();
