// The effect of generalizing one attribute to its top.

import { badge } from "../components/parts.js";
import { wideTable } from "../components/table.js";
import { h } from "../dom.js";
import { number, share } from "../format.js";

/** Draw the same request with each attribute at its top in turn. */
export function givenUp({ ask, onLook }) {
  return async ({ request }) => {
    const { attributes, rows } = await ask("attributes", { request });
    return [
      h(
        "p",
        { class: "small muted" },
        "The same request with each attribute at its top level in turn. A release without its column has the " +
          "same groups; “height without” excludes its levels.",
      ),
      wideTable({
        caption: "Suppression with one attribute at its top level",
        kind: "",
        dense: true,
        rows: attributes,
        onSelect: (each) => onLook(each.levels),
        columns: [
          { key: "attribute", title: "attribute at its top", head: true },
          {
            key: "exact",
            title: "request",
            render: (each) => (each.exact ? badge("met", "good") : badge("not met", "plain")),
          },
          {
            key: "suppressed",
            title: "suppressed",
            number: true,
            render: (each) => `${number(each.suppressed)} (${share(each.suppressed, rows)})`,
            sort: (each) => each.suppressed,
          },
          { key: "height", title: "height", number: true, sort: (each) => each.height },
          { key: "height_without", title: "height without", number: true, sort: (each) => each.height_without },
          { key: "levels", title: "levels", render: (each) => Object.values(each.levels).join(" ") },
        ],
      }),
    ];
  };
}
