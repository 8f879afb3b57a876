// Answers of a query: truth, estimate and bounds as a table, and a chart of some of them.

import { h } from "../dom.js";
import { count, number, ratio, significant } from "../format.js";
import { badge, notice, sentence } from "../components/parts.js";
import { orNull, wideTable } from "../components/table.js";

const MOST_INTERVALS = 12;
const MOST_ROWS = 500;

/** Show the result of a query; `isWhole` if it selects every row, so that a value without a row occurs nowhere. */
export function answers(found, { isWhole }) {
  const shown = found.rows.slice(0, MOST_ROWS);
  const sure = shown.filter((row) => !(isWhole && isIdle(row, found)));
  const relevant = found.rows.filter((row) => !(isWhole && isIdle(row, found)));
  const idle = shown.filter((row) => isWhole && isIdle(row, found));
  return [
    shown.length > 0 && sentence(describeResult(found, relevant.length > 0 ? relevant : found.rows)),
    found.warnings.map((each) => notice(each, "plain")),
    intervals(sure.slice(0, MOST_INTERVALS), found),
    answerTable("Answers", sure, found, idle.length ? "No value occurs for certain." : "No row meets the condition."),
    idle.length > 0 &&
      h(
        "details",
        { class: "behind", open: sure.length === 0 },
        h("summary", {}, `${count(idle.length, "value")} that ${found.truth ? "no row has" : "may or may not occur"}`),
        answerTable("Values that may not occur", idle, found),
      ),
    found.rows.length > shown.length &&
      h("p", { class: "muted small" }, `… and ${number(found.rows.length - shown.length)} more.`),
    found.sql &&
      h("details", {}, h("summary", {}, "Rewritten query"), h("pre", { class: "mono sql", tabindex: "0" }, found.sql)),
  ];
}

/** Describe the answer in a sentence: one figure with its bounds, or the errors of several figures. */
function describeResult({ columns, truth }, rows) {
  const [first] = rows;
  if (rows.length === 1 && first.estimate !== null) {
    const of = columns.map((name) => first.group[name] ?? "NULL").join(", ");
    const bounds = first.lower === first.upper ? "" : `, between ${exact(first.lower)} and ${exact(first.upper)}`;
    const real = truth && first.truth !== null ? ` The true answer is ${exact(first.truth)}.` : "";
    return `${of ? `${of}: ` : ""}${exact(first.estimate)}${bounds}.${real}`;
  }
  const compared = rows.filter((row) => row.truth && row.estimate !== null);
  if (!truth || compared.length === 0) return `${count(rows.length, "answer")}, each with certain bounds.`;
  const off = compared.map(errorOf);
  const mean = off.reduce((sum, each) => sum + each, 0) / off.length;
  const most = ratio(off.reduce((found, each) => Math.max(found, each), 0));
  const left = rows.length - compared.length;
  const without = left > 0 ? ` ${count(left, "answer")} cannot be compared: the true answer is 0 or unknown.` : "";
  const answered = count(rows.length, "answer");
  return `${answered}. The mean error is ${ratio(mean)}, the largest ${most}.${without}`;
}

/** Return true for a value that the labels cannot exclude and that, as far as is known, no row has. */
function isIdle(row, { columns, truth }) {
  if (columns.length === 0) return false;
  return truth ? row.truth === null || row.truth === 0 : row.lower === 0 || row.lower === null;
}

function answerTable(caption, rows, found, empty = null) {
  return wideTable({ caption, kind: "whole-words answers", rows, columns: columnsOf(found), empty });
}

function columnsOf({ columns, truth, suppressed }) {
  const figure = (key, title) => ({ key, title, number: true, render: (row) => exact(row[key]) });
  return [
    ...columns.map((name) => ({ key: name, title: name, head: true, render: (row) => orNull(row.group[name]) })),
    {
      key: "aggregate",
      title: "aggregate",
      head: columns.length === 0,
      render: (row) => h("span", { class: "mono" }, row.aggregate),
    },
    truth && figure("truth", "truth"),
    figure("estimate", "estimate"),
    figure("lower", "at least"),
    figure("upper", "at most"),
    truth && { key: "error", title: "error", number: true, render: relativeError },
    truth && {
      key: "holds",
      title: "within the bounds",
      render: (row) => within(row, suppressed),
    },
  ].filter(Boolean);
}

/** Draw each answer on a line: the certain bounds as a band, the estimate as a stroke, the truth as a point. */
function intervals(rows, { columns, truth }) {
  const drawn = rows.filter((row) => row.lower !== null && row.upper !== null);
  if (drawn.length === 0 || new Set(drawn.map((row) => row.aggregate)).size > 1) return null;
  const low = Math.min(0, ...drawn.map((row) => row.lower));
  const high = Math.max(...drawn.map((row) => row.upper), ...drawn.map((row) => row.truth ?? 0), low + 1e-9);
  const place = (value) => `${(100 * (value - low)) / (high - low)}%`;
  const key = (kind, words) => h("span", {}, h("span", { class: `key ${kind}` }), words);
  return h(
    "div",
    {
      class: "intervals",
      role: "img",
      aria: { label: "Bounds, estimate and true value of each answer; the table below has the numbers." },
    },
    h("p", { class: "legend" }, key("band", "bounds"), key("stroke", "estimate"), truth && key("dot", "truth")),
    drawn.map((row) =>
      h(
        "div",
        { class: "interval" },
        h("span", { class: "name" }, columns.map((name) => row.group[name] ?? "NULL").join(", ") || row.aggregate),
        h(
          "span",
          { class: "track" },
          h("span", {
            class: "band",
            style: { left: place(row.lower), width: `${(100 * (row.upper - row.lower)) / (high - low)}%` },
          }),
          row.estimate !== null && h("span", { class: "stroke", style: { left: place(row.estimate) } }),
          row.truth !== null && h("span", { class: "dot", style: { left: place(row.truth) } }),
        ),
      ),
    ),
  );
}

/** Return a badge: do the bounds contain the truth? Bounds cover only published rows, the truth covers all rows. */
function within({ holds, aggregate, truth, lower, upper }, suppressed) {
  if (holds === null) return "–";
  if (holds) return badge("yes", "good");
  const isCount = /^COUNT\(\*\)/i.test(aggregate);
  const apart = isCount ? truth >= lower && truth <= upper + suppressed : suppressed > 0;
  return apart ? badge("without suppressed rows") : badge("no", "bad");
}

function exact(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? number(value) : significant(value, 6);
}

function relativeError(row) {
  if (row.truth === null || row.estimate === null) return "–";
  if (row.truth === 0) return row.estimate === 0 ? ratio(0) : "–";
  return ratio(errorOf(row));
}

/** Return the error of an estimate as a ratio to the truth, which is not 0: 8.43 if it is 843 % too large. */
function errorOf({ estimate, truth }) {
  return Math.abs(estimate - truth) / Math.abs(truth);
}
