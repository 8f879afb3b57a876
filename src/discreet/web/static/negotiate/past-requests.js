// Earlier requests and their answers.

import { badge, button } from "../components/parts.js";
import { table } from "../components/table.js";
import { h } from "../dom.js";
import { number } from "../format.js";

/** Draw the requests, the latest first; `current()` is the current request. */
export function pastRequests({ read, current, onApply, onLook }) {
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
        { key: "request", title: "request", head: true, render: (entry) => entry.asked },
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
          render: (entry) => button("Request again", { small: true, onClick: () => onApply(entry.request) }),
        },
      ],
    });
  };
}
