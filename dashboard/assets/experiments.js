/* Experiments: the intended split goes into the address. */
(function () {
  "use strict";
  const clientside = (window.dash_clientside = window.dash_clientside || {});
  clientside.experiments = {
    split(value, asked) {
      const wanted = (value || "").trim();
      if (wanted !== ((asked && asked.split) || "")) window.weighbridge.setQuery({ split: wanted });
      return clientside.no_update;
    },
  };
})();
