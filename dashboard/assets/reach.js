/* Notices when the dashboard no longer answers, says so on every page, and brings the page that was asked
   for meanwhile. The live page tells of its feed by itself, so nothing is said there unless somebody left it. */
(function () {
  "use strict";
  const ASK_MS = 1000;
  const AWAY = new Set([502, 503, 504]); // what a proxy in front says for us
  const ask = window.fetch.bind(window);
  let since = null;
  let missed = false; // a page, a filter or rows were asked for in vain; a pulse asks again by itself

  function beat(body) {
    try {
      const changed = JSON.parse(body).changedPropIds;
      return changed.length > 0 && changed.every((id) => id.endsWith("pulse.n"));
    } catch (error) {
      return false;
    }
  }

  function box() {
    const found = document.querySelector("#wb-gone");
    if (found) return found;
    const made = document.createElement("div");
    made.id = "wb-gone";
    made.className = "banner crit";
    made.setAttribute("role", "alert");
    made.hidden = true;
    document.body.append(made);
    return made;
  }

  function say() {
    const told = box();
    told.hidden = since === null || (!missed && document.querySelector("[data-live-root]") !== null);
    if (told.hidden) return;
    const lead = document.createElement("b");
    lead.textContent = "The dashboard does not answer.";
    const meaning = missed ? "What was asked for comes as soon as it does." : "What is shown may be old; it asks again every second.";
    const text = document.createElement("span");
    text.className = "mid";
    text.textContent = ` No answer since ${since.toISOString().slice(11, 19)} UTC. ${meaning}`;
    told.replaceChildren(lead, text);
  }

  async function again() {
    try {
      const answer = await ask("/healthz", { cache: "no-store" });
      if (!AWAY.has(answer.status)) return back();
    } catch (error) {
      /* still away */
    }
    return setTimeout(again, ASK_MS);
  }

  function back() {
    since = null;
    say();
    if (missed) location.reload();
  }

  function lost(body) {
    missed = missed || !beat(body);
    if (since === null) {
      since = new Date();
      setTimeout(again, ASK_MS);
    }
    say();
  }

  window.fetch = async function (resource, options) {
    const callback = String(resource.url || resource).includes("/_dash-update-component");
    try {
      const answer = await ask(resource, options);
      if (callback && AWAY.has(answer.status)) lost(options?.body);
      return answer;
    } catch (error) {
      if (callback && error.name !== "AbortError") lost(options?.body);
      throw error;
    }
  };
})();
