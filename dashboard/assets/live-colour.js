/* Colours of the heat map: ramps mixed in OKLab from the tokens, and opacity by age. */
(function () {
  "use strict";
  const live = (window.weighbridgeLive = window.weighbridgeLive || {});
  const LEVELS = 24; // steps between full and faint; a cell is drawn again only when its step changes
  const STEPS = 256;
  const STALE_MS = 1000;

  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const parse = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const gamma = (v) => (v <= 0.0031308 ? 12.92 * v : 1.055 * Math.max(0, v) ** (1 / 2.4) - 0.055);

  /* B. Ottosson, "A perceptual color space for image processing" (2020): sRGB to OKLab and back. */
  function toLab(rgb) {
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  }

  function toRgb([L, a, b]) {
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ].map((v) => Math.round(255 * Math.min(1, Math.max(0, gamma(v)))));
  }

  function ramp(kind) {
    const stops = [0, 25, 50, 75, 100].map((k) => toLab(parse(token(`--${kind}-${k}`))));
    return Array.from({ length: STEPS }, (_, i) => {
      const x = (i / (STEPS - 1)) * 4;
      const k = Math.min(3, Math.floor(x));
      return toRgb(stops[k].map((v, j) => v + (stops[k + 1][j] - v) * (x - k)));
    });
  }

  /* Step of freshness, 0 faint to LEVELS - 1 full: logarithmic between the two ages of the tokens. */
  function freshness(fullMs, faintMs) {
    const span = Math.log(faintMs / fullMs);
    return (age) => {
      if (!(age > fullMs)) return LEVELS - 1;
      if (age >= faintMs) return 0;
      return Math.round((1 - Math.log(age / fullMs) / span) * (LEVELS - 1));
    };
  }

  /* Everything the map needs of one theme and one palette. css[level * 256 + step] is a colour over the
     well; pixel[...] is the same as the u32 that an ImageData holds. */
  function paint(palette) {
    const floor = Number(token("--fresh-floor")) || 0.35;
    const colours = ramp(palette === "safe" ? "safe" : "heat");
    const well = parse(token("--well"));
    const css = new Array(LEVELS * STEPS);
    const pixel = new Uint32Array(LEVELS * STEPS);
    for (let level = 0; level < LEVELS; level++) {
      const alpha = floor + ((1 - floor) * level) / (LEVELS - 1);
      for (let step = 0; step < STEPS; step++) {
        const [r, g, b] = colours[step].map((v, k) => Math.round(v * alpha + well[k] * (1 - alpha)));
        css[level * STEPS + step] = `rgb(${r},${g},${b})`;
        pixel[level * STEPS + step] = opaque([r, g, b]);
      }
    }
    const names = ["ink", "ink-2", "ink-3", "line", "line-strong", "surface", "raised", "hatch", "warn", "mark", "accent", "focus"];
    const tokens = Object.fromEntries(names.map((name) => [name, token(`--${name}`)]));
    return {
      css,
      pixel,
      tokens,
      colours,
      pixelOf: (name) => opaque(parse(tokens[name])),
      level: freshness(Number(token("--fresh-full-ms")) || 100, Number(token("--fresh-faint-ms")) || STALE_MS),
    };
  }

  const opaque = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

  /* The top of a scale that holds ``value``: 1, 2 or 5 times a power of ten. */
  function scaleTop(value) {
    if (!(value > 0)) return 1;
    const unit = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((k) => k * unit).find((top) => value <= top * (1 + 1e-9));
  }

  Object.assign(live, { paint, scaleTop, LEVELS, STEPS, STALE_MS });
})();
