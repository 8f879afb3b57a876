// The original and the release row by row: all rows, of which only the visible ones are drawn.

import { errorText, query } from "../api.js";
import { clear, h } from "../dom.js";
import { count, number } from "../format.js";
import { latest } from "../turns.js";
import { nameOf } from "./sentence.js";

const ROW = 22; // pixels of a row, as in the style of data
const COLUMN = 70; // minimum pixels of a column, as in the style
const PAGE = 100; // rows requested at once
const AHEAD = 12; // rows drawn beyond the visible ones
const MOST_PIXELS = 8_000_000; // browsers draw no element that is taller

/**
 * The two sides; `.show(contender)` changes the contender. `.status` gives the visible rows, `.actions` filter the
 * rows: both are placed in the tray.
 */
export function paired({ context, onWhich }) {
  const { signal } = context;
  const turn = latest();
  let row = null;
  let which = "all";
  let withLeftOut = false;
  let total = 0;
  let about = null;
  const pages = new Map();

  const head = h("div", { class: "paired-heads" });
  const filling = h("div", { class: "paired-fill" });
  const drawn = h("div", { class: "paired-rows" });
  const area = h(
    "div",
    {
      class: "paired-scroll",
      tabindex: "0",
      role: "region",
      aria: { label: "Original and published rows; both sides scroll as one" },
      on: { scroll: () => draw(), keydown: (event) => sideways(event), wheel: (event) => turned(event) },
    },
    filling,
  );
  filling.append(drawn);
  // Many columns are wider than a side: one scroll bar moves both.
  const across = h("div", { class: "paired-across", on: { scroll: () => shift() } }, h("div", {}));
  const element = h("section", { class: "paired", aria: { label: "Row by row" } }, head, area, across);
  const status = h("span", { class: "muted paired-status", role: "status" });
  const actions = h("span", { class: "tray-links" });
  const watch = new ResizeObserver(() => draw());
  watch.observe(area);

  function shift() {
    element.style.setProperty("--shift", `${across.scrollLeft}px`);
  }

  function sideways(event) {
    const step = { ArrowLeft: -COLUMN, ArrowRight: COLUMN }[event.key];
    if (!step || event.target !== area) return;
    event.preventDefault();
    across.scrollLeft += step;
  }

  function turned(event) {
    const by = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (Math.abs(by) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
    event.preventDefault();
    across.scrollLeft += by;
  }

  const action = (words, run, pressed = null) =>
    h("button", { class: "as-link", type: "button", aria: { pressed }, on: { click: run } }, words);

  async function show(contender) {
    row = contender;
    which = "all";
    withLeftOut = false;
    await fresh();
  }

  async function fresh() {
    const isLast = turn();
    pages.clear();
    total = 0;
    about = null;
    clear(actions);
    status.textContent = "";
    if (row === null || row.kind === "model" || row.stale) {
      const words =
        row === null ? "" : row.stale ? "Repeat this request to see its rows." : "Publish it to see its rows.";
      clear(head, heading(null), h("p", { class: "muted small" }, words));
      clear(drawn);
      area.hidden = true;
      return;
    }
    area.hidden = false;
    try {
      about = await ask(0);
      if (!isLast()) return;
    } catch (error) {
      if (error.name === "AbortError" || !isLast()) return;
      clear(head, heading(null), h("p", { class: "small" }, errorText(error)));
      return;
    }
    if (!about.linked) {
      clear(
        head,
        heading(null),
        h("p", { class: "muted small" }, "This release does not link its rows to original rows."),
      );
      area.hidden = true;
      return;
    }
    total = about.total;
    pages.set(0, about.rows);
    filling.style.height = `${Math.min(total * ROW, MOST_PIXELS)}px`;
    area.scrollTop = 0;
    element.style.setProperty("--columns", about.attributes.length);
    across.scrollLeft = 0;
    clear(head, heading(about), columns(about.attributes));
    drawActions();
    draw();
  }

  const ask = (first) =>
    query(
      "/api/compare/rows",
      { kind: row.kind, name: row.name, first, number: PAGE, which, left_out: withLeftOut },
      { signal },
    );

  function heading(found) {
    const left = found === null ? "" : count(found.people, "row");
    const right = found === null ? "" : count(found.people - found.left_out, "row");
    return h(
      "div",
      { class: "paired-titles" },
      h("p", {}, h("b", {}, "Original"), " ", h("span", { class: "muted" }, left)),
      h(
        "p",
        {},
        row && h("span", { class: `letter ${row.kind}`, aria: { hidden: true } }, row.letter),
        h("b", {}, row ? nameOf(row) : ""),
        " ",
        h("span", { class: "muted" }, right),
        h(
          "span",
          { class: "paired-legend" },
          h("i", { class: "changed" }),
          "changed",
          h("i", { class: "not-shown" }),
          "not shown",
          h("i", { class: "left-out" }),
          "suppressed",
        ),
      ),
    );
  }

  function columns(attributes) {
    const side = (words) =>
      h(
        "div",
        { class: "paired-half", aria: { label: words } },
        h(
          "div",
          { class: "paired-side" },
          attributes.map((name) => h("span", { title: name }, name)),
        ),
      );
    return h("div", { class: "paired-row paired-columns" }, side("Original"), side("Published"));
  }

  function drawActions() {
    const only = (name, words) => action(words, () => choose(which === name ? "all" : name), String(which === name));
    clear(
      actions,
      only("changed", "Only changed"),
      withLeftOut
        ? only("left-out", "Only suppressed")
        : about.left_out > 0 && action("Show suppressed rows", () => reveal()),
      withLeftOut && action("Hide suppressed rows", () => hide()),
    );
    onWhich();
  }

  function reveal() {
    withLeftOut = true;
    fresh().then(() => context.announce(`${count(about.left_out, "suppressed row")} shown.`));
  }

  function hide() {
    withLeftOut = false;
    which = "all";
    fresh();
  }

  function choose(name) {
    which = name;
    fresh();
  }

  /** Draw the visible rows, and request those that are not loaded yet. */
  function draw() {
    if (about === null || area.hidden) return;
    const scrolled = total * ROW > MOST_PIXELS ? area.scrollTop / (MOST_PIXELS - area.clientHeight) : null;
    const seen = Math.ceil(area.clientHeight / ROW);
    const top = scrolled === null ? Math.floor(area.scrollTop / ROW) : Math.round(scrolled * (total - seen));
    const first = Math.max(0, Math.min(top, total - 1) - AHEAD);
    const last = Math.min(total, top + seen + AHEAD);
    const lines = [];
    for (let at = first; at < last; at += 1) lines.push(line(rowAt(at), at));
    drawn.style.transform = `translateY(${scrolled === null ? first * ROW : area.scrollTop - (top - first) * ROW}px)`;
    clear(drawn, lines);
    const until = Math.min(total, top + Math.floor(area.clientHeight / ROW));
    status.textContent =
      total === 0 ? "No rows" : `Rows ${number(Math.min(top + 1, total))} to ${number(until)} of ${number(total)}`;
  }

  function rowAt(at) {
    const first = Math.floor(at / PAGE) * PAGE;
    if (!pages.has(first)) {
      pages.set(first, null);
      const isOf = row;
      ask(first)
        .then((found) => {
          if (row !== isOf) return;
          pages.set(first, found.rows);
          draw();
        })
        .catch(() => pages.delete(first));
    }
    return pages.get(first)?.[at - first] ?? null;
  }

  function line(found, at) {
    if (found === null) return h("div", { class: "paired-row waiting" });
    const out = found.after === null;
    const before = found.before.map((value) => h("span", { title: value }, value ?? "–"));
    const after = out
      ? [h("span", { class: "reason" }, `suppressed: ${alike(found.alike)}`)]
      : found.after.map((value, i) => cell(value, found.before[i]));
    return h(
      "div",
      { class: `paired-row ${out ? "out" : ""}` },
      h("div", { class: "paired-half" }, h("div", { class: "paired-side" }, before)),
      h("div", { class: "paired-half" }, h("div", { class: "paired-side" }, after)),
    );
  }

  const alike = (many) => (many === 1 ? "no identical row" : `${number(many)} identical rows, too few for a group`);

  return {
    element,
    status,
    actions,
    show,
    close: () => watch.disconnect(),
  };
}

function cell(value, before) {
  if (value === "*") return h("span", { class: "not-shown", title: "not shown" }, "");
  if (value === before || value === null) return h("span", {}, value ?? "–");
  return h("span", { class: "changed", title: value }, h("b", {}, value));
}
