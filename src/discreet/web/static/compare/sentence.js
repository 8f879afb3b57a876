// The trade between contenders in one sentence, with its figures in words.

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

/** What the contender that keeps most pays for it, against the one that is found least. */
export function sentenceOf(contenders) {
  const known = contenders.filter(({ figures }) => figures?.detail !== null && figures?.found > 0);
  if (known.length === 0) return "Nothing is measured yet.";
  if (known.length === 1) return `${nameOf(known[0])} keeps ${percent(known[0].figures.detail)} of the detail.`;
  const most = known.reduce((a, b) => (b.figures.detail > a.figures.detail ? b : a));
  const safest = known.reduce((a, b) => (b.figures.found < a.figures.found ? b : a));
  const isAlike = ({ figures: { detail, found } }) => detail === most.figures.detail && found === safest.figures.found;
  const alike = known.filter(isAlike);
  if (alike.length > 1) return `${listed(alike.map(nameOf))} keep the same, and are equally safe.`;
  if (most === safest) return `${nameOf(most)} keeps the most detail and is the safest.`;
  const detail = more(most.figures.detail, safest.figures.detail);
  const risk = timesOnly(most.figures.found, safest.figures.found);
  return `${nameOf(most)} keeps ${detail} ${nameOf(safest)}, at ${risk} the risk of being found.`;
}

/** A release by its model or file, an answer by its name. */
export function nameOf({ kind, name, title }) {
  return kind === "model" ? title : name;
}

function listed(names) {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function more(most, least) {
  if (!(least > 0)) return "all the detail of";
  const ratio = most / least;
  if (ratio < 1.1) return "about the detail of";
  if (ratio < 1.8) return `${percent(ratio - 1)} more detail than`;
  return `${ratio < 2 ? "nearly twice" : timesOnly(most, least)} the detail of`;
}

function timesOnly(more, less) {
  const ratio = more / less;
  if (ratio < 1.1) return "about";
  if (ratio < 1.9) return `${ratio.toFixed(1)} times`;
  const whole = Math.round(ratio);
  const words = NUMBERS[whole] ?? String(whole);
  return whole === 2 ? "twice" : `${words} times`;
}

function percent(value) {
  return `${Math.round(100 * value)} %`;
}
