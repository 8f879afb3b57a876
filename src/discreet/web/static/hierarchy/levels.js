// The levels of a hierarchy: in figures, as strips, and value by value.

import { button, wide } from "../components/parts.js";
import { table, wideTable } from "../components/table.js";
import { h } from "../dom.js";
import { number, share } from "../format.js";

const MOST_BLOCKS = 80;
const SHOWN_VALUES = 100;

/** Figures per level: values, rows of the rarest value, generalization of the most frequent value. */
export function figures(answer) {
  return wide(
    "Levels in figures",
    table({
      caption: "Levels, from the values to the top",
      dense: true,
      rows: answer.figures,
      columns: [
        {
          key: "level",
          title: "Level",
          head: true,
          render: (row) =>
            row.level === 0
              ? "0, the values"
              : row.level === answer.height
                ? `${row.level}, the top`
                : String(row.level),
        },
        { key: "values", title: "Values", number: true, render: (row) => number(row.values) },
        { key: "smallest", title: "Rows of the rarest", number: true, render: (row) => number(row.smallest) },
        { key: "example", title: "For instance" },
      ],
    }),
    { kind: "" },
  );
}

/** Each level as a strip; the width of a value is its number of rows. */
export function strips(answer) {
  const shown = answer.levels
    .map((level, at) => ({ ...level, at }))
    .filter((level) => level.labels.length <= MOST_BLOCKS)
    .reverse();
  if (shown.length === 0) return null;
  const letters = Math.min(78, (innerWidth - (innerWidth < 900 ? 80 : 480)) / 9); // the letters that fit into a strip
  return h(
    "div",
    { class: "strips", role: "img", aria: { label: "Each level as a strip: a value is as wide as the rows below it" } },
    shown.map((level) =>
      h(
        "div",
        { class: "strip-line" },
        h("span", { class: "small muted number" }, `level ${level.at}`),
        h(
          "div",
          { class: "strip" },
          level.labels.map((label, place) => {
            const part = level.rows[place] / Math.max(1, answer.rows);
            return part === 0
              ? null
              : h(
                  "span",
                  {
                    class: "block",
                    style: { "flex-grow": level.rows[place] },
                    title: `${label}: ${number(level.rows[place])} rows, ${share(level.rows[place], answer.rows)}`,
                  },
                  part * letters > label.length + 1 ? label : "",
                );
          }),
        ),
      ),
    ),
  );
}

/** value → level 1 → … → top, for the first values. */
function paths(answer) {
  const [leaves] = answer.levels;
  if (!leaves)
    return h("p", { class: "muted" }, "There are too many values to list; the table above describes each level.");
  const rows = pathsOf(answer.levels, SHOWN_VALUES).map((cells, place) => ({ cells, rows: leaves.rows[place] }));
  const columns = answer.levels.map((level, at) => ({
    title: at === 0 ? "Value" : `Level ${at}`,
    head: at === 0,
    render: (row) =>
      at > 0 && row.cells[at] === row.cells[at - 1] ? h("span", { class: "muted" }, row.cells[at]) : row.cells[at],
  }));
  return h(
    "div",
    { class: "stack tight" },
    wideTable({
      caption: "Values at every level",
      kind: "paths",
      dense: true,
      rows,
      columns: [
        ...columns.slice(0, 1),
        { title: "Rows", number: true, render: (row) => number(row.rows) },
        ...columns.slice(1),
      ],
    }),
    leaves.labels.length > SHOWN_VALUES &&
      h("p", { class: "small muted" }, `The first ${SHOWN_VALUES} of ${number(leaves.labels.length)} values.`),
  );
}

/** Return the first `most` values with their generalizations, level by level. */
export function pathsOf(levels, most = Infinity) {
  return levels[0].labels.slice(0, most).map((label, place) => {
    const cells = [label];
    let at = place;
    for (let level = 0; level < levels.length - 1; level += 1) {
      at = levels[level].parents[at];
      cells.push(levels[level + 1].labels[at]);
    }
    return cells;
  });
}

/** All views of the levels, and tools to add and remove levels; `onEdit(change, words)`. */
export function levelsPanel(answer, onEdit) {
  return h("div", { class: "stack" }, strips(answer), figures(answer), paths(answer), levelTools(answer, onEdit));
}

function levelTools({ height, levels }, onEdit) {
  if (height === null || levels.length === 0) return null;
  const between = Array.from({ length: Math.max(0, height - 1) }, (_, i) => i + 1);
  return h(
    "div",
    { class: "row" },
    button("Add a level above the values", {
      onClick: () => onEdit({ change: "add_level", level: 0 }, "A level was added"),
    }),
    between.map((level) =>
      button(`Remove level ${level}`, {
        tone: "danger",
        onClick: () => onEdit({ change: "remove_level", level }, `Level ${level} was removed`),
      }),
    ),
  );
}
