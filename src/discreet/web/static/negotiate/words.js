// An answer as a sentence with its figures.

import { count, number } from "../format.js";

/** Return the rarest value that is a word or a number; the rarest if there is none. */
export function rarest({ labels, before }) {
  const labelled = labels.map((_, place) => place).filter((place) => /[\p{L}\p{N}]/u.test(labels[place]));
  const places = labelled.length > 0 ? labelled : labels.map((_, place) => place);
  return labels[places.reduce((least, place) => (before[place] < before[least] ? place : least))];
}

/** Return a name with spaces instead of underscores. */
export const spoken = (name) => name.replaceAll("_", " ");

/** Describe the requirement on each group: "No group has fewer than 5 rows or 3 values of relationship." */
export function requirementText({ k, l }, requirement, { unit, sensitive, criteria }) {
  return requirementWords({ k, l }, entitled(furtherCriteria(requirement), criteria), { unit, sensitive });
}

/** "lkc(confidence=0.9)=2" → "LKC-privacy 2 (confidence 0.9)", by the titles of the kinds of criteria. */
function entitled(text, criteria) {
  return text.replace(/(\w+)(?:\(([^)]*)\))?=([\w.%]+)/gu, (_, name, parts, value) => {
    const title = criteria.find((each) => each.name === name)?.title ?? name;
    return `${title} ${value}${parts ? ` (${parts.replaceAll("=", " ")})` : ""}`;
  });
}

/** Describe the requirement like `requirementText`, with the criteria other than k and l as a text. */
export function requirementWords({ k, l }, others, { unit, sensitive }) {
  const least = [];
  if (k !== null && k !== undefined && k > 1) least.push(`${number(k)} ${unit}`);
  const each = typeof l === "number" ? sensitive.map(({ name }) => [name, l]) : Object.entries(l ?? {});
  for (const [name, value] of each) if (value > 1) least.push(`${number(value)} values of ${spoken(name)}`);
  if (least.length === 0) return others ? `The release meets ${others}.` : "Any group may be published.";
  const further = others ? `, and ${others} ${/\d\)?, /.test(others) ? "hold" : "holds"}` : "";
  return `No group has fewer than ${least.join(" or ")}${further}.`;
}

/** Return the criteria other than k and l of a requirement, in the field's terms. */
const furtherCriteria = (requirement) => requirement.replace(/\b[kl](\([^)]*\))?=\d+(, )?/g, "").replace(/, $/, "");

/** Return the answer's sentence. */
export function sentenceOf(answer, facts) {
  const { rows } = answer;
  if (answer.outcome !== "exact") {
    const fewest = answer.answers.find((each) => each.relaxed === "max_suppressed");
    if (!fewest) return nothingFound(answer);
    const least = `At least ${number(fewest.suppressed)} of ${number(rows)} rows`;
    return `${least} would have to be suppressed; you allow ${number(answer.limit)}.`;
  }
  const [{ suppressed }] = answer.answers;
  const found = `${requirementText(answer.request, answer.requirement, facts)} ${suppressedWords(suppressed, rows)}`;
  return [found, homogeneousWords(answer.homogeneous)].filter(Boolean).join(" ");
}

/** Describe homogeneous groups: "In 3 groups everyone has the same diagnosis." */
export function homogeneousWords(homogeneous) {
  const groups = Object.entries(homogeneous ?? {}).filter(([, many]) => many > 0);
  return groups.map(([name, many]) => `In ${count(many, "group")} everyone has the same ${spoken(name)}.`).join(" ");
}

/** Describe the number of suppressed rows in a sentence. */
export function suppressedWords(suppressed, rows) {
  if (suppressed === 0) return "No row is suppressed.";
  return `${number(suppressed)} of ${number(rows)} rows ${suppressed === 1 ? "is" : "are"} suppressed.`;
}

/** Explain why no limit would help: the requirement exceeds the table, or the allowed levels are too fine. */
function nothingFound({ request: { k }, rows }) {
  if (k > rows) return `No group can have ${number(k)} rows: the table has ${number(rows)}.`;
  return "No node within these levels meets the request.";
}

/** Return the tag above the sentence: its words, its certainty, and its tone. */
export function tagOf(answer) {
  if (answer.outcome !== "exact") {
    return answer.is_proven
      ? { tag: "No answer within these limits", why: "", is: false }
      : { tag: "No answer found, and none is ruled out", why: "", is: false };
  }
  const [{ height }] = answer.answers;
  const steps = `${number(height)} ${height === 1 ? "step" : "steps"} of generalization`;
  if (!answer.is_proven) return { tag: "Best found, not proven", why: steps, is: true };
  return {
    tag: "Exact answer",
    why: height === 0 ? "no value is generalized" : `${steps}; fewer are not enough`,
    is: true,
  };
}

/** Describe a level of an attribute: "unchanged", "5 groups of 16", "not shown". */
export function levelWords({ height, values, levels }, level) {
  if (level === 0) return "unchanged";
  if (level === height) return "not shown";
  const groups = levels[level].values;
  return `${number(groups)} ${groups === 1 ? "group" : "groups"} of ${number(values)}`;
}
