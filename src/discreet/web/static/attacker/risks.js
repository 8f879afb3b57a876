// Re-identification risk: the highest and mean risk, and rows that are unique.

import { number, share } from "../format.js";
import { facts, panel, sentence } from "../components/parts.js";
import { bars } from "../plots/bars.js";
import { sizeBands } from "../plots/size-bands.js";
import { pair, sideBars, sideTable } from "./sides.js";

const CHANCES = [0.5, 1 / 3, 0.2, 0.1, 0.09, 0.05, 0.02, 0.01];

/** Return the marketer's risk of the original or of the release; that of the original may be unknown. */
function marketerRisk({ marketer: risk, after }, side) {
  const chance = side === after ? risk.share : risk.before;
  return chance === null ? "–" : share(chance, 1);
}

/** Show the prosecutor's and the marketer's risk, before and after. */
export function namingRisks(found) {
  const { after } = found;
  const part = (side, rows) => `${number(rows)} (${share(rows, side.rows)})`;
  return panel(
    { title: "Re-identification risk" },
    sentence(describeResult(found)),
    facts([
      { label: "prosecutor, highest", value: share(after.prosecutor.highest, 1) },
      { label: "prosecutor, mean", value: share(after.prosecutor.mean, 1) },
      { label: "marketer", value: share(found.marketer.share, 1) },
      {
        label: `rows above ${found.threshold}`,
        value: number(after.prosecutor.rows_over_threshold),
        tone: after.prosecutor.rows_over_threshold > 0 ? "warning" : "good",
      },
    ]),
    pair(
      sideTable(found, {
        label: "Risk before and after",
        caption: `Marketer risk rests on ${found.marketer.basis}.`,
        rows: [
          ["prosecutor risk, highest", (side) => share(side.prosecutor.highest, 1)],
          ["prosecutor risk, mean", (side) => share(side.prosecutor.mean, 1)],
          ["marketer risk", (side) => marketerRisk(found, side)],
          [`rows with a risk above ${found.threshold}`, (side) => part(side, side.prosecutor.rows_over_threshold)],
          ["rows unique in their group", (side) => part(side, side.uniques.unique_rows)],
          ["groups", (side) => number(side.classes)],
          ["rows", (side) => number(side.rows)],
        ],
      }),
      sideBars(found, {
        rows: CHANCES.map((chance) => ({ label: `above ${Number(chance.toPrecision(2))}`, chance })),
        value: (side, { chance }) => rowsAbove(side, chance),
        format: (value) => share(value, 1),
        caption: "Share of rows whose re-identification risk is above a value",
        nameTitle: "chance",
      }),
    ),
  );
}

/** Describe the highest and the mean risk in a sentence. */
function describeResult({ before, after, threshold }) {
  const { highest, mean, rows_over_threshold: over } = after.prosecutor;
  const least = Math.round(1 / highest);
  const most = highest === 1 ? "Some rows are unique." : `No row has a risk above 1 in ${number(least)}.`;
  const was = before ? `, before the release ${share(before.prosecutor.mean, 1)}` : "";
  const rest = over === 0 ? "No row is" : `${number(over)} of ${number(after.rows)} ${over > 1 ? "are" : "is"}`;
  return `${most} The mean risk is ${share(mean, 1)}${was}. ${rest} above ${threshold}.`;
}

function rowsAbove(side, chance) {
  let rows = 0;
  for (const [size, classes] of Object.entries(side.class_sizes))
    if (1 / Number(size) > chance + 1e-12) rows += Number(size) * classes;
  return side.rows ? rows / side.rows : 0;
}

/** Show unique rows, by the number of columns that make them unique. */
export function sampleUniques(found) {
  const { uniques, class_sizes: sizes } = found.before ?? found.after;
  const columns = Object.entries(uniques.rows_by_attribute)
    .filter(([, rows]) => rows > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([label]) => ({ label }));
  return panel(
    {
      title: "Sample uniques",
      note: "Rows without an identical row, and the fewest columns that make them unique.",
    },
    pair(
      sideBars(found, {
        rows: Object.keys(uniques.rows_by_smallest_set).map((size) => ({
          label: `by ${size} ${size === "1" ? "column" : "columns"}`,
          size,
        })),
        value: (side, { size }) => side.uniques.rows_by_smallest_set[size],
        caption: "Unique rows by the fewest columns needed",
        nameTitle: "columns",
      }),
      columns.length > 0
        ? sideBars(found, {
            rows: columns,
            value: (side, { label }) => side.uniques.rows_by_attribute[label] ?? 0,
            caption: "Rows with this column in a smallest set that makes them unique",
            nameTitle: "column",
          })
        : bars({
            rows: sizeBands(sizes).map((band) => ({ label: `${band.label} rows`, value: band.count })),
            caption: "Rows by the size of their group",
            nameTitle: "group size",
          }),
    ),
  );
}
