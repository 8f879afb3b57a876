// Tables: sortable heads, rows selected by click, arrows and Enter, and the data of a plot.

import { clear, h } from "../dom.js";
import { wide } from "./parts.js";

/**
 * A table of `columns: [{key, title, number, render(row), sort(row), head}]` and `rows`. With `onSelect(row, place)`
 * rows can be selected; `selected(row)` returns true for the selected one. `.setRows(rows)` replaces the rows.
 */
export function table({
  caption,
  columns,
  rows,
  onSelect = null,
  selected = () => false,
  empty = "Nothing here yet.",
  dense = false,
  hideCaption = false,
}) {
  const body = h("tbody", {});
  let shown = rows;
  let order = null;
  const heads = columns.map((column, place) => {
    const words = column.sort
      ? h("button", { class: "sort", type: "button", on: { click: () => sortBy(place) } }, column.title)
      : column.title;
    return h("th", { scope: "col", class: column.number ? "number" : null }, words);
  });
  const element = h(
    "table",
    { class: `table ${onSelect ? "rows" : ""} ${dense ? "dense" : ""}` },
    h("caption", { class: hideCaption ? "visually-hidden" : null }, caption),
    h("thead", {}, h("tr", {}, heads)),
    body,
  );

  function sortBy(place) {
    const descending = order?.place === place ? !order.descending : Boolean(columns[place].number);
    order = { place, descending };
    heads.forEach((head, i) =>
      i === place
        ? head.setAttribute("aria-sort", descending ? "descending" : "ascending")
        : head.removeAttribute("aria-sort"),
    );
    draw();
  }

  function draw() {
    const found = [...shown];
    if (order) {
      const key = columns[order.place].sort;
      found.sort((a, b) => compare(key(a), key(b)) * (order.descending ? -1 : 1));
    }
    const lines = found.map((row, place) => line(row, place));
    clear(body, lines.length > 0 ? lines : h("tr", {}, h("td", { colspan: columns.length, class: "muted" }, empty)));
    if (onSelect && lines.length > 0)
      (lines.find((each) => each.getAttribute("aria-selected") === "true") ?? lines[0]).tabIndex = 0;
  }

  function line(row, place) {
    const cells = columns.map((column) => {
      const content = column.render ? column.render(row, place) : row[column.key];
      return h(
        column.head ? "th" : "td",
        { class: column.number ? "number" : null, scope: column.head ? "row" : null },
        content,
      );
    });
    if (!onSelect) return h("tr", {}, cells);
    return h(
      "tr",
      {
        tabindex: "-1",
        aria: { selected: selected(row) },
        on: {
          click: (event) => {
            if (!event.target.closest("button, a, input, select, label")) onSelect(row, place);
          },
          keydown: (event) => move(event, row, place),
        },
      },
      cells,
    );
  }

  function move(event, row, place) {
    if (event.target !== event.currentTarget) return;
    const lines = [...body.children];
    const here = lines.indexOf(event.currentTarget);
    const target = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onSelect(row, place);
    } else if (target !== undefined && lines[target]) {
      event.preventDefault();
      event.currentTarget.tabIndex = -1;
      lines[target].tabIndex = 0;
      lines[target].focus();
    }
  }

  draw();
  element.setRows = (next) => {
    shown = next;
    draw();
  };
  return element;
}

/** A table that scrolls sideways, whose caption is only for screen readers. */
export function wideTable({ label, kind, ...about }) {
  return wide(label ?? about.caption, table({ ...about, hideCaption: true }), { kind });
}

/** Return a cell's value, with a label for NULL. */
export function orNull(value) {
  return value ?? h("span", { class: "muted" }, "NULL");
}

/** A figure: the plot, its caption, and its numbers as a collapsed table. */
export function dataTableBehind(plot, { caption, columns, rows, legend = null }) {
  return h(
    "figure",
    { class: "stack tight" },
    legend,
    plot,
    h(
      "details",
      { class: "behind" },
      h("summary", {}, "Data table"),
      wide(caption, table({ caption, columns, rows, dense: true }), { kind: "" }),
    ),
  );
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
}
