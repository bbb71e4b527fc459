/* Runs in <head> before the first paint: the remembered theme and time zone. Left out of the automatic
   assets (they load at the end of <body>), see app.py. Mantine reads the theme under the same key. */
(function () {
  "use strict";
  const root = document.documentElement;
  const asked = new URLSearchParams(location.search).get("theme");
  let theme = null;
  let zone = null;
  try {
    theme = localStorage.getItem("mantine-color-scheme-value");
    zone = localStorage.getItem("weighbridge-zone");
  } catch (error) {
    /* storage may be blocked; the defaults hold */
  }
  if (asked === "dark" || asked === "light") {
    theme = asked;
    try {
      localStorage.setItem("mantine-color-scheme-value", theme); // Mantine would set its own back otherwise
    } catch (error) {
      /* as above */
    }
  }
  if (theme !== "dark" && theme !== "light") theme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  root.setAttribute("data-mantine-color-scheme", theme);
  root.dataset.zone = zone === "local" ? "local" : "UTC";
})();
