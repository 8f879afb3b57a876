// The candidates as a table: a letter, a name, and their metrics, the best of each column in bold.

import { h } from "../dom.js";
import { day, number, ratio, roughShare, share } from "../format.js";

const COLUMNS = [
  { key: "detail", words: ["", "detail kept"], tone: "meets", text: (value) => roughShare(value) },
  { key: "found", words: ["found", "on average"], tone: "risk", text: (value) => share(value) },
  { key: "highest", words: ["highest", "risk"], text: oneIn },
  { key: "kept", words: ["rows", "kept"], text: number },
  { key: "query_error", words: ["error of", "questions"], tone: "risk", text: ratio },
];
const STALE = { answer: "out of date", release: "made from another table", model: "out of date" };
const KINDS = { answer: "saved", release: "released on", model: "tried, not published" };

/** The table; `chosen` is the letter of the contender whose rows are shown below. */
export function candidateTable({ candidates, best, queries }, chosen, { onChoose, onForget }) {
  const most = Object.fromEntries(
    COLUMNS.map(({ key }) => [key, Math.max(...candidates.map((row) => row.figures?.[key] ?? 0), 1e-9)]),
  );
  const heads = COLUMNS.map(({ key, words }) =>
    h(
      "th",
      { scope: "col", class: "number" },
      words[0],
      h("br"),
      key === "query_error" ? `${queries} questions` : words[1],
    ),
  );
  return h(
    "table",
    { class: "candidates" },
    h("caption", { class: "visually-hidden" }, "Comparison of answers, releases and models"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Name")), heads)),
    h(
      "tbody",
      {},
      candidates.map((row) => line(row, { best, most, chosen, onChoose, onForget })),
    ),
  );
}

function line(row, { best, most, chosen, onChoose, onForget }) {
  const { figures } = row;
  const about =
    row.kind === "release"
      ? `${row.title}, ${KINDS.release} ${day(row.date)}`
      : `${KINDS[row.kind]}, ${row.title.toLowerCase()}`;
  const name = h(
    "th",
    { scope: "row" },
    h(
      "button",
      {
        class: "contender",
        type: "button",
        dataset: { of: row.letter },
        aria: { pressed: row.letter === chosen, label: `${row.letter}: ${row.name}. Show its rows` },
        on: { click: () => onChoose(row) },
      },
      h("span", { class: `letter ${row.kind}`, aria: { hidden: true } }, row.letter),
      h(
        "span",
        { class: "names" },
        h("b", {}, row.kind === "model" ? row.title : row.name),
        h("span", {}, about),
        h("span", { title: row.asked }, row.asked),
        row.unmet && h("span", { class: "unmet" }, unmetWords(row)),
      ),
    ),
    row.kind === "answer" &&
      h(
        "button",
        { class: "forget", type: "button", aria: { label: `Forget ${row.name}` }, on: { click: () => onForget(row) } },
        "×",
      ),
  );
  const cells = COLUMNS.map((column) => cell(row, column, best, most));
  const note =
    figures === null && h("td", { colspan: COLUMNS.length, class: "muted" }, row.stale ? STALE[row.kind] : "…");
  const why = figures?.why && h("td", { colspan: COLUMNS.length, class: "muted small" }, figures.why);
  return h(
    "tr",
    { class: row.letter === chosen ? "chosen" : null, dataset: { letter: row.letter } },
    name,
    note || why || cells,
  );
}

/** Explain that a contender does not meet the current request, or that this cannot be determined. */
function unmetWords({ meets, unmet }) {
  return meets === false ? `Does not meet the current request: ${unmet}` : `May not meet the current request: ${unmet}`;
}

function cell({ letter, figures }, { key, text, tone }, best, most) {
  const value = figures?.[key];
  if (value === null || value === undefined) return h("td", { class: "number muted" }, "–");
  const words = h(best[key]?.includes(letter) ? "b" : "span", {}, text(value));
  const part = key === "detail" ? value : value / most[key];
  const bar =
    tone &&
    h("span", { class: `thin ${tone}`, aria: { hidden: true } }, h("i", { style: { width: `${100 * part}%` } }));
  return h("td", { class: "number" }, words, bar);
}

function oneIn(value) {
  return value > 0 ? `1 in ${number(Math.round(1 / value))}` : "–";
}
