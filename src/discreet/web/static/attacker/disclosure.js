// Disclosure without naming a row: sensitive values of a known class, and classes that differ from all others.

import { h } from "../dom.js";
import { number, share } from "../format.js";
import { notice, panel } from "../components/parts.js";
import { orNull, wideTable } from "../components/table.js";
import { bars } from "../plots/bars.js";

/** Show the disclosure of sensitive values. */
export function sensitiveValues(found) {
  const { attributes } = found.disclosure;
  if (attributes.length === 0)
    return panel({ title: "Sensitive values" }, notice("The release has no sensitive column.", "plain"));
  const part = (each, rows) => `${number(rows)} (${share(rows, each.rows)})`;
  return panel(
    {
      title: "Sensitive values",
      note: "Facts that an attacker learns from a person's group, without identifying the row.",
    },
    wideTable({
      label: "Table of sensitive values",
      caption: "Sensitive attributes by group",
      rows: attributes,
      columns: [
        { key: "attribute", title: "attribute", head: true },
        { key: "l", title: "distinct l", number: true, render: (each) => number(each.l) },
        { key: "entropy_l", title: "entropy l", number: true, render: (each) => each.entropy_l.toFixed(2) },
        {
          key: "homogeneous_rows",
          title: "rows whose group has one value",
          number: true,
          render: (each) => part(each, each.homogeneous_rows),
        },
        {
          key: "dominated_rows",
          title: `rows with a value in over ${share(found.dominance, 1)} of it`,
          number: true,
          render: (each) => part(each, each.dominated_rows),
        },
      ],
    }),
    h(
      "div",
      { class: "plot-room" },
      bars({
        rows: attributes.map((each) => ({
          label: each.attribute,
          value: each.guessed_right_without_release,
          second: each.guessed_right,
        })),
        format: (value) => share(value, 1),
        series: ["without the release", "with it"],
        caption: "Share of rows whose value is guessed correctly as the most frequent one",
        nameTitle: "attribute",
      }),
    ),
  );
}

/** Show the smallest classes, and the distance of each from the nearest other class. */
export function classesThatStandOut({ outlier_classes: classes }) {
  if (classes.length === 0) return null;
  return panel(
    {
      title: "Smallest groups",
      note: "The smallest groups. Distance: the fewest columns in which a group differs from any other.",
    },
    wideTable({
      label: "Table of smallest groups",
      caption: "Smallest groups",
      dense: true,
      rows: classes,
      columns: [
        { key: "rows", title: "rows", number: true, head: true, render: (each) => number(each.rows) },
        { key: "distance", title: "distance", number: true, render: (each) => number(each.distance) },
        ...Object.keys(classes[0].values).map((name) => ({
          key: name,
          title: name,
          render: (each) => orNull(each.values[name]),
        })),
      ],
    }),
  );
}
