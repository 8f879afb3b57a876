// What was asked before, and what the answer was.

import { badge, button } from "../components/parts.js";
import { table } from "../components/table.js";
import { h } from "../dom.js";
import { number } from "../format.js";

/** Draws the requests, the latest first; `current()` is the one that is asked now. */
export function pastRequests({ facts, read, current, onApply, onLook }) {
  return async () => {
    const { requests } = await read("requests?last=60");
    const now = JSON.stringify(current());
    return table({
      caption: "Requests, the latest first",
      dense: true,
      rows: [...requests].reverse(),
      empty: "No request yet: move a slider.",
      selected: (entry) => JSON.stringify(entry.request) === now,
      columns: [
        {
          key: "at",
          title: "time",
          render: (entry) => new Date(entry.at).toLocaleString("en-GB", { dateStyle: "short", timeStyle: "short" }),
        },
        { key: "request", title: "request", head: true, render: (entry) => requestWords(entry.request, facts) },
        {
          key: "outcome",
          title: "answer",
          render: (entry) => badge(entry.outcome, entry.outcome === "exact" ? "good" : "warning"),
        },
        {
          key: "node",
          title: "levels",
          render: ({ answer }) =>
            answer
              ? h(
                  "button",
                  { class: "node-step", type: "button", on: { click: () => onLook(answer.levels) } },
                  Object.values(answer.levels).join(" "),
                )
              : "–",
        },
        {
          key: "suppressed",
          title: "suppressed",
          number: true,
          render: ({ answer }) => (answer ? number(answer.suppressed) : "–"),
        },
        {
          key: "again",
          title: "",
          render: (entry) => button("Ask again", { small: true, onClick: () => onApply(entry.request) }),
        },
      ],
    });
  };
}

/** A request in a few words. */
function requestWords({ k, l, max_suppressed: most, max_level: highest, min_level: lowest }, facts) {
  const parts = [];
  if (k !== null) parts.push(`k=${number(k)}`);
  if (typeof l === "number") parts.push(`l=${l}`);
  else if (l) parts.push(...Object.entries(l).map(([name, value]) => `l(${name})=${value}`));
  parts.push(`at most ${typeof most === "number" ? number(most) : most} suppressed`);
  for (const { name } of facts.attributes) {
    if (name in highest) parts.push(`${name} ≤ ${highest[name]}`);
    if (name in lowest) parts.push(`${name} ≥ ${lowest[name]}`);
  }
  return parts.join(", ");
}
