/* What the shell does in the browser: navigation, keys, theme, time zone, copying. Public names are on
   window.weighbridge; pages use navigate, replaceQuery, toast, announce, setLive and the events below.
     weighbridge:freeze  {frozen}  somebody pressed Live or Freeze (the Live page answers with setLive)
     weighbridge:link    {url}     a link is about to be copied; a listener may change the URL object
     weighbridge:theme   {theme}   the theme changed */
(function () {
  "use strict";
  const root = document.documentElement;
  const find = (selector) => document.querySelector(selector);
  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

  /* ---- addresses ---- */
  function navigate(href, { replace = false } = {}) {
    const target = new URL(href, location.href);
    if (target.href === location.href) return;
    history[replace ? "replaceState" : "pushState"]({}, "", target);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate")); // what dcc.Link fires, and dcc.Location hears
  }

  function withQuery(changes, from = location.href) {
    const target = new URL(from, location.href);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "") target.searchParams.delete(key);
      else target.searchParams.set(key, value);
    }
    return target;
  }

  const setQuery = (changes) => navigate(withQuery(changes).href);
  const replaceQuery = (changes) => history.replaceState(history.state, "", withQuery(changes));

  /* ---- saying things ---- */
  let fading;
  function toast(text) {
    const box = find("#wb-toast");
    if (!box) return;
    box.textContent = text;
    box.classList.add("on");
    clearTimeout(fading);
    fading = setTimeout(() => box.classList.remove("on"), 2200);
  }

  function announce(text) {
    const box = find("#wb-announce");
    if (box) box.textContent = text;
  }

  async function copy(text, said) {
    try {
      if (!navigator.clipboard) throw new Error("no clipboard outside a secure context");
      await navigator.clipboard.writeText(text);
    } catch (error) {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "vh";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) return toast("Copying was refused by the browser");
    }
    return toast(said);
  }

  /* A copied link shows what was seen: a relative range becomes the absolute one it stood for. */
  function copyLink() {
    const url = new URL(location.href);
    const seconds = Number(find("#wb-range")?.dataset.seconds);
    if (seconds > 0) {
      const now = Date.now();
      url.searchParams.delete("range");
      url.searchParams.set("from", new Date(now - seconds * 1000).toISOString());
      url.searchParams.set("to", new Date(now).toISOString());
    }
    tell("weighbridge:link", { url });
    copy(url.href, "Link to this view copied");
  }

  /* ---- theme and zone ---- */
  function remember(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch (error) {
      /* storage may be blocked; the choice then lasts as long as the page */
    }
  }

  function switchTheme() {
    const theme = root.getAttribute("data-mantine-color-scheme") === "dark" ? "light" : "dark";
    root.setAttribute("data-mantine-color-scheme", theme);
    remember("mantine-color-scheme-value", theme);
    if (new URLSearchParams(location.search).has("theme")) replaceQuery({ theme: null });
    tell("weighbridge:theme", { theme });
  }

  function showZone() {
    const label = find("#wb-zone-name");
    if (label) label.textContent = window.weighbridge.zones.name();
  }

  function switchZone() {
    const zones = window.weighbridge.zones;
    zones.set(zones.get() === "UTC" ? "local" : "UTC");
    remember("weighbridge-zone", zones.get());
    showZone();
    toast(`Times are shown in ${zones.name()}`);
  }

  /* ---- live and freeze ---- */
  function setLive({ state = "live", text = "" } = {}) {
    const live = find("#wb-live");
    const freeze = find("#wb-freeze");
    if (!live || !freeze) return;
    live.setAttribute("aria-pressed", String(state !== "frozen"));
    freeze.setAttribute("aria-pressed", String(state === "frozen"));
    live.classList.toggle("crit", state === "stale");
    live.querySelector(".live").classList.toggle("on", state === "live");
    live.querySelector(".word").textContent = text || "Live";
  }

  const askFreeze = (frozen) => tell("weighbridge:freeze", { frozen });

  /* ---- one listener for all clicks, since Dash redraws the elements ---- */
  const ACTIONS = {
    "wb-copy-link": copyLink,
    "wb-theme": switchTheme,
    "wb-zone": switchZone,
    "wb-live": () => askFreeze(false),
    "wb-freeze": () => askFreeze(true),
  };

  function applyRange(form) {
    const changes = { range: null };
    for (const name of ["from", "to"]) {
      const typed = form.querySelector(`#wb-${name}`).value.trim();
      const at = new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(typed) ? typed : `${typed.replace(" ", "T")}Z`);
      if (Number.isNaN(at.getTime())) return toast(`"${typed}" is no time; write it as 2026-12-01 02:14`);
      changes[name] = at.toISOString();
    }
    if (changes.from >= changes.to) return toast("The range must end after it begins");
    return setQuery(changes);
  }

  /* A plain click on a link to another page of ours changes the page without loading it anew. */
  function follow(event) {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || link.target || link.hasAttribute("download")) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const target = new URL(link.href, location.href);
    if (target.origin !== location.origin || !target.pathname.startsWith("/ui/") || target.hash) return;
    event.preventDefault();
    navigate(target.href);
    window.scrollTo(0, 0);
  }

  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.pop[open]").forEach((open) => {
      if (!open.contains(event.target) || event.target.closest(".pop-list a")) open.open = false;
    });
    follow(event);
    const target = event.target.closest("[id^=wb-],[data-copy],[data-retry],[data-apply-range]");
    if (!target) return;
    if (target.dataset.copy !== undefined) copy(target.dataset.copy, "Copied");
    else if (target.dataset.retry !== undefined) location.reload();
    else if (target.dataset.applyRange !== undefined) applyRange(target.closest(".pop-list"));
    else if (ACTIONS[target.id]) ACTIONS[target.id]();
  });

  /* ---- keys ---- */
  let goUntil = 0;
  function onKey(event) {
    if (event.key === "Escape") {
      document.querySelectorAll("details.pop[open]").forEach((open) => {
        open.open = false;
        open.querySelector("summary").focus();
      });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input,textarea,select,[contenteditable=true],.ag-root")) return;
    const key = event.key.toLowerCase();
    if (performance.now() < goUntil) {
      goUntil = 0;
      const entry = find(`.rail a[data-key="${CSS.escape(key)}"]`);
      if (entry) {
        event.preventDefault();
        navigate(entry.getAttribute("href"));
        return;
      }
    }
    if (key === "g") goUntil = performance.now() + 1200;
    else if (key === "s") copyLink();
    else if (key === "t" && find("#wb-range")) {
      event.preventDefault();
      find("#wb-range").open = true;
      find("#wb-range summary").focus();
    }
  }
  document.addEventListener("keydown", onKey);

  /* ---- the router arrived somewhere ---- */
  window.dash_clientside = Object.assign(window.dash_clientside || {}, {
    weighbridge: {
      arrived(page) {
        if (page) {
          document.title = page.title;
          showZone();
          const main = find("#main");
          if (main && main.dataset.path !== page.path) {
            if (main.dataset.path !== undefined) announce(page.title);
            main.dataset.path = page.path;
          }
        }
        return window.dash_clientside.no_update;
      },
    },
  });

  window.weighbridge = Object.assign(window.weighbridge || {}, {
    navigate,
    withQuery,
    setQuery,
    replaceQuery,
    toast,
    announce,
    copy,
    setLive,
  });
})();
