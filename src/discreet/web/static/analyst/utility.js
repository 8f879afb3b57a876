// Utility of a release: its metrics, the loss of each column, and distributions before and after.

import { h } from "../dom.js";
import { grouped, number, share, significant } from "../format.js";
import { badge, facts, notice, panel, sentence } from "../components/parts.js";
import { wideTable } from "../components/table.js";
import { spoken } from "../negotiate/words.js";
import { bars } from "../plots/bars.js";

/** Show the metrics of a release against its original. */
export function metrics(found) {
  const by = Object.fromEntries(found.metrics.map((each) => [each.name, each]));
  const fact = (name, label = name) => by[name] && { label, value: figure(by[name].value) };
  return panel(
    { title: "Utility of the release", note: "Measured against the original." },
    sentence(kept(found)),
    facts([
      { label: "rows", value: number(found.rows - found.suppressed) },
      { label: "suppressed", value: `${number(found.suppressed)} (${share(found.suppressed, found.rows)})` },
      fact("loss"),
      fact("granularity"),
      fact("classes", "groups"),
    ]),
    found.warnings.map((each) => notice(each, "warning")),
    h(
      "div",
      { class: "split even" },
      bars({
        rows: Object.entries(found.loss).map(([label, value]) => ({ label, value })),
        format: (value) => value.toFixed(3),
        caption: "Loss of each quasi-identifier: 0 keeps every value, 1 none",
        nameTitle: "column",
      }),
      wideTable({
        caption: "Metrics",
        kind: "whole-words metrics",
        dense: true,
        rows: found.metrics,
        columns: [
          {
            key: "title",
            title: "metric",
            head: true,
            render: (each) => h("span", { title: grouped(each.definition) }, grouped(each.title)),
          },
          { key: "value", title: "value", number: true, render: (each) => figure(each.value) },
          { key: "unit", title: "unit" },
          { key: "better", title: "better", render: (each) => (each.better === "neither" ? "" : each.better) },
        ],
      }),
    ),
  );
}

/** Describe in a sentence the published rows, and the columns with least and with full loss. */
function kept({ rows, suppressed, loss }) {
  const published = `${number(rows - suppressed)} of ${number(rows)} rows are published.`;
  const by = Object.entries(loss).sort((a, b) => a[1] - b[1]);
  const gone = by.filter(([, each]) => each > 0.9995).map(([name]) => spoken(name));
  const most = by.length > 1 && by[0][1] < 0.9995 ? ` ${capital(spoken(by[0][0]))} keeps most detail` : "";
  const nothing = gone.length > 0 ? `${gone.join(" and ")} ${gone.length === 1 ? "is" : "are"} not shown` : "";
  if (!most && !nothing) return published;
  return `${published}${most}${most && nothing ? "; " : " "}${most ? nothing : capital(nothing)}.`.replace(" .", ".");
}

const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** Show the frequency of each value in the original and in the release. */
export function distributions({ distributions: list }) {
  return panel(
    {
      title: "Distributions before and after",
      note:
        "After: generalized rows are spread evenly over the values that they cover. The bars of the release exclude " +
        "suppressed rows.",
    },
    h("div", { class: "distributions" }, list.map(distribution)),
  );
}

function distribution({ attribute, level, values, before, after }) {
  return h(
    "div",
    { class: "distribution" },
    h("h3", {}, attribute, level > 0 && badge(`at level ${level}`, "plain")),
    bars({
      rows: values.map((value, i) => ({ label: value ?? "NULL", value: before[i], second: after[i] })),
      series: ["before", "after"],
      format: (value) => number(Math.round(value)),
      nameTitle: attribute,
      caption: `Rows by ${attribute}, before and after`,
    }),
  );
}

function figure(value) {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? number(value) : significant(value, 4);
}
