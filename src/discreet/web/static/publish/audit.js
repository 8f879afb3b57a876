// A release with its audit: counts, warnings, and downloads.

import { h } from "../dom.js";
import { count, grouped, number } from "../format.js";
import { facts, panel, sentence } from "../components/parts.js";
import { spoken } from "../negotiate/words.js";
import { histogram } from "../plots/histogram.js";
import { sizeBands } from "../plots/size-bands.js";
import { cautions, isTable, partName } from "../release/words.js";
import { downloads } from "./downloads.js";

/** Return the audit's verdict in one sentence. */
export function verdict({ audit }) {
  const groups = count(audit.classes, "group");
  if (!audit.passed) return "Audit failed: nothing can be downloaded.";
  const alike = Object.entries(audit.l)
    .filter(([, least]) => audit.classes > 0 && least <= 1)
    .map(([name]) => ` In at least one group everyone has the same ${spoken(name)}.`);
  return `Audit passed: ${count(audit.rows, "row")} in ${groups}, the smallest of ${number(audit.k)}.${alike.join("")}`;
}

/** The panel of a release, `fresh` if it was just published; `onReport({release, audit})` once a report is written. */
export function auditPanel({ release, audit }, { fresh = false, signal, onReport }) {
  const work = h("div", {});
  return panel(
    {
      title: `${fresh ? "Published: " : ""}${release.name}`,
      note: `Counted in the written ${isTable(release) ? "table" : "file"}, by independent code.`,
      label: `Audit of ${release.name}`,
    },
    sentence(verdict({ release, audit }), { tone: audit.passed ? "good" : "bad" }),
    cautions(release.cautions),
    facts([
      { label: "rows", value: number(audit.rows) },
      { label: "groups", value: number(audit.classes) },
      { label: "smallest group", value: number(audit.k) },
      { label: "suppressed", value: number(release.suppressed) },
      ...Object.entries(audit.l).map(([name, value]) => ({ label: `l of ${name}`, value: number(value) })),
    ]),
    histogram({
      bins: sizeBands(audit.class_sizes),
      xTitle: "rows of the group",
      yTitle: "rows",
      caption: "Rows by the size of their group",
    }),
    warnings([...new Set([...release.warnings, ...audit.warnings])]),
    isTable(release) && tables(release),
    audit.passed && h("div", { class: "row" }, downloads(release, { work, signal, onReport })),
    work,
  );
}

function warnings(list) {
  if (list.length === 0) return null;
  return h(
    "details",
    { class: "warnings", open: list.length < 4 },
    h("summary", {}, count(list.length, "warning")),
    h(
      "ul",
      {},
      list.map((each) => h("li", {}, grouped(each))),
    ),
  );
}

function tables(release) {
  return h(
    "div",
    { class: "tables" },
    h("h3", {}, "In the database"),
    h(
      "ul",
      {},
      Object.entries(release.tables).map(([what, name]) =>
        h("li", {}, `${partName(what)}: `, h("span", { class: "mono" }, name)),
      ),
    ),
  );
}
