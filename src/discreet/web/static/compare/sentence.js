// The trade-off between candidates in one sentence.

import { number, roughShare } from "../format.js";

const NUMBERS = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

/** Describe the extra risk of the contender with most detail, compared with the one with least risk. */
export function sentenceOf(candidates) {
  const known = candidates.filter(({ figures }) => figures?.detail !== null && figures?.found > 0);
  if (known.length === 0) return "Nothing is measured yet.";
  if (known.length === 1) return `${nameOf(known[0])} keeps ${roughShare(known[0].figures.detail)} of the detail.`;
  const most = known.reduce((a, b) => (b.figures.detail > a.figures.detail ? b : a));
  const safest = known.reduce((a, b) => (b.figures.found < a.figures.found ? b : a));
  const isAlike = ({ figures: { detail, found } }) => detail === most.figures.detail && found === safest.figures.found;
  const alike = known.filter(isAlike);
  if (alike.length > 1) return `${listed(alike.map(nameOf))} keep the same detail at the same risk.`;
  if (most === safest) return `${nameOf(most)} keeps the most detail and is the safest.`;
  const risk = timesOnly(most.figures.found, safest.figures.found);
  if (!(safest.figures.detail > 0)) {
    const kept = `${nameOf(most)} keeps ${roughShare(most.figures.detail)} of the detail and ${nameOf(safest)} none`;
    return `${kept}, at ${risk} the re-identification risk.`;
  }
  const detail = more(most.figures.detail, safest.figures.detail);
  return `${nameOf(most)} keeps ${detail} ${nameOf(safest)}, at ${risk} the re-identification risk.`;
}

/** Return the name of a contender: a model's title, else the release's or answer's name. */
export function nameOf({ kind, name, title }) {
  return kind === "model" ? title : name;
}

function listed(names) {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function more(most, least) {
  const times = most / least;
  if (times < 1.1) return "about the detail of";
  if (times < 1.8) return `${roughShare(times - 1)} more detail than`;
  return `${times < 1.95 ? "nearly twice" : timesOnly(most, least)} the detail of`;
}

/** Describe a quotient of two figures, to a twentieth: "1.4 times", "twice", "2.4 times", "12 times". */
export function timesOnly(larger, smaller) {
  const times = larger / smaller;
  if (times < 1.1) return "about";
  const whole = Math.round(times);
  if (Math.abs(times - whole) > 0.05 * times || whole < 2) return `${times.toFixed(1)} times`;
  return whole === 2 ? "twice" : `${NUMBERS[whole] ?? number(whole)} times`;
}
