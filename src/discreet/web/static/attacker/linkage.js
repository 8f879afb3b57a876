// Results of the linkage attack: with a file of some people, or of the whole population.

import { h } from "../dom.js";
import { count, number, share } from "../format.js";
import { facts, notice } from "../components/parts.js";
import { pair, sideBars, sideTable } from "./sides.js";

const tenths = (value) => number(Math.round(value * 10) / 10);

/** Show the journalist's risk, from the number of people in the population that share each row's values. */
export function journalistRisk({ journalist: risk, marketer, threshold }) {
  return h(
    "div",
    { class: "stack" },
    facts([
      { label: "journalist, highest", value: share(risk.highest, 1) },
      { label: "journalist, mean", value: share(risk.mean, 1) },
      { label: "marketer", value: share(marketer.share, 1) },
      { label: `rows above ${threshold}`, value: number(risk.rows_over_threshold) },
      { label: "people counted", value: number(risk.people) },
    ]),
    risk.classes_with_fewer_people_than_rows > 0 &&
      notice(
        `In ${count(risk.classes_with_fewer_people_than_rows, "class", "classes")} the file has fewer people ` +
          `than the release has rows: it is not the whole population, and rows are counted instead.`,
        "warning",
      ),
    risk.incomplete_people > 0 &&
      notice(`${count(risk.incomplete_people, "record")} lack a matched value and are not counted.`, "plain"),
  );
}

/** Show the number of the attacker's records that match a row, and of the correct links. */
export function links(found) {
  const { linkage } = found;
  const { before, after } = linkage;
  const known = after.expected_correct !== null;
  const right = (side) => tenths(side.expected_correct ?? side.expected_if_present);
  const part = (side, records) => `${number(records)} (${share(records, side.records)})`;
  return h(
    "div",
    { class: "stack" },
    facts([
      { label: "records", value: number(after.records) },
      before && { label: "correct links before", value: right(before), tone: "bad" },
      { label: "correct links after", value: right(after), tone: "good" },
    ]),
    pair(
      sideTable(linkage, {
        label: "Links before and after",
        caption: `Matched by ${linkage.columns.map((each) => each.release).join(", ")}.`,
        rows: [
          ["records that match a row", (side) => part(side, side.matched)],
          ["records that match one row", (side) => part(side, side.matched_one_row)],
          ["matching rows, median", (side) => number(side.median_matches)],
          ["correct links, if everyone is in the table", (side) => tenths(side.expected_if_present)],
          known && ["records of people in the original", (side) => number(side.known)],
          known && ["correct links expected", (side) => tenths(side.expected_correct)],
        ].filter(Boolean),
      }),
      sideBars(linkage, {
        rows: Object.keys(after.matches).map((least, place) => ({ label: found.steps[place], least })),
        value: (side, { least }) => side.matches[least],
        caption: "Records by the number of rows that match them",
        nameTitle: "matching rows",
      }),
    ),
    linkage.incomplete_records > 0 &&
      notice(
        `${count(linkage.incomplete_records, "record")} lack a matched value, which is then unknown to the attacker.`,
        "plain",
      ),
    linkage.records_with_strange_values > 0 &&
      notice(
        `${count(linkage.records_with_strange_values, "record")} have a value that is not in the ` +
          `hierarchy: only cells at the top level match them.`,
        "plain",
      ),
  );
}
