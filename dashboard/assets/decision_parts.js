/* The waterfall and the candidates of a decision, drawn from plain rows. See pages/_decision_parts.py.
   Every text from a sender becomes a text node or a title attribute. */
(function () {
  "use strict";
  const make = window.React.createElement;

  function follow(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    window.weighbridge.navigate(event.currentTarget.href);
  }

  const WARN = { width: 11, height: 11, viewBox: "0 0 16 16", fill: "none", stroke: "currentColor", strokeWidth: 1.5, "aria-hidden": true };

  function label(row) {
    const at = {
      inside: { left: `calc(${row.left}% + 8px)` },
      left: { right: `calc(${100 - row.left}% + 6px)` },
      right: { left: `calc(${row.left + row.width}% + 9px)` },
    }[row.place];
    const notes = row.notes
      ? make("span", { className: "warn odd", title: row.notes }, make("svg", WARN, make("path", { d: "M8 2.3 14.2 13H1.8zM8 6.5v3M8 11.3v.1" })), row.notes)
      : null;
    const error = row.error ? make("span", { className: "crit" }, row.error) : null;
    return make("div", { className: row.place === "inside" ? "l in" : "l", style: at }, row.words, error, notes);
  }

  function span(row, key) {
    const text = make("span", { className: "ell nm", title: row.title }, row.name);
    const name = row.href ? make("a", { className: "link ell", href: row.href, onClick: follow }, text) : text;
    return make(
      "div",
      { key, className: row.lit ? "r lit" : "r", role: "listitem", "aria-current": row.lit ? "true" : undefined },
      make("div", { className: "n", style: { paddingLeft: row.indent } }, make("i", { className: row.kind }), name, make("span", { className: "svc ell", title: row.service_title }, row.service)),
      make(
        "div",
        { className: "tk" },
        make("div", { className: `b ${row.kind}${row.bad ? " bad" : ""}`, style: { left: `min(${row.left}%, 100% - 3px)`, width: `${row.width}%` } }),
        label(row),
      ),
    );
  }

  function Spans({ id, ticks, rows }) {
    const mark = ([at, words], key) => make("span", { key, style: { left: `${at}%` }, className: at === 0 ? "first" : at > 95 ? "last" : undefined }, words);
    return make(
      "div",
      { id, className: "wf", role: "list", tabIndex: 0, "aria-label": "Spans of the trace" },
      make("div", { className: "r ax", "aria-hidden": true }, make("div", { className: "n" }), make("div", { className: "tk" }, ticks.map(mark))),
      rows.map(span),
    );
  }

  function candidate(row, key) {
    const parts = row.parts.map(([className, width, title], at) => make("i", { key: at, className, title, style: { width: `${width}%` } }));
    const figure = (text, className = "") => make("td", { className: `num ${className}`.trim() }, text);
    return make(
      "tr",
      { key, className: row.won ? "win" : undefined },
      figure(row.rank, "dim"),
      make("td", null, make("div", { className: "row" }, make("span", { className: "mono ell", title: row.node_title }, row.node), row.tag ? make("span", { className: "tag" }, row.tag) : null)),
      make("td", { className: "wide" }, make("div", { className: "st", role: "img", "aria-label": row.spoken }, parts)),
      figure(row.score, "med"),
      figure(row.behind, "dim"),
      figure(row.weight),
    );
  }

  function Candidates({ id, title, rows }) {
    const head = [
      ["", "num"],
      ["Node", ""],
      [title, "wide"],
      ["Score", "num"],
      ["Behind", "num"],
      ["Weight", "num"],
    ].map(([text, className], key) => make("th", { key, className: className || undefined, scope: "col" }, text));
    return make(
      "div",
      { id, className: "cand-list", tabIndex: 0, role: "group", "aria-label": "Candidates, best first" },
      make("table", { className: "t" }, make("thead", null, make("tr", null, head)), make("tbody", null, rows.map(candidate))),
    );
  }

  window.weighbridge_decision = { Spans, Candidates };
})();
