// Up to three nodes of the lattice next to each other.

import { badge, wide } from "../components/parts.js";
import { h } from "../dom.js";
import { costText, number, share } from "../format.js";

const MOST = 3;

/** Draw the compared nodes; `.add(levels)` adds one and returns their number. */
export function comparison({ facts, ask, again, onLook }) {
  let compared = [];

  const draw = async ({ request, node }) => {
    const isSingle = compared.length === 1 && !same(compared[0], node.levels);
    const shown = compared.length === 0 || isSingle ? [...compared, node.levels] : compared;
    const { nodes, limit } = await ask("comparison", { request, nodes: shown });
    return [
      nodes.length < 2 &&
        h(
          "p",
          { class: "small muted" },
          "Select another node of the lattice and press Compare; up to three are compared. The current node is " +
            "added to a single one.",
        ),
      wide(
        "Comparison of nodes",
        h(
          "table",
          { class: "table dense comparison-table" },
          h("caption", { class: "visually-hidden" }, "Comparison of nodes"),
          h("thead", {}, h("tr", {}, h("td", {}), nodes.map(head))),
          h(
            "tbody",
            {},
            figures(nodes, limit),
            facts.attributes.map((attribute) => levelLine(nodes, attribute)),
          ),
        ),
        { kind: "" },
      ),
    ];
  };

  function head({ levels }, i) {
    const takeAway = () => {
      compared.splice(i, 1);
      again();
    };
    return h(
      "th",
      { scope: "col", class: "number" },
      h(
        "button",
        { class: "node-step", type: "button", on: { click: () => onLook(levels) } },
        facts.attributes.map(({ name }) => levels[name]).join(" "),
      ),
      i < compared.length &&
        h(
          "button",
          {
            class: "button small quiet",
            type: "button",
            aria: { label: `Remove node ${i + 1}` },
            on: { click: takeAway },
          },
          "✕",
        ),
    );
  }

  draw.add = (levels) => {
    if (!compared.some((each) => same(each, levels))) compared = [...compared, levels].slice(-MOST);
    return compared.length;
  };
  return draw;
}

function same(some, others) {
  return JSON.stringify(some) === JSON.stringify(others);
}

function figures(nodes, limit) {
  const [{ kept, mean, unit, least_distinct: distinct }] = nodes;
  const line = (...given) => figureLine(nodes, ...given);
  return [
    line("meets the request", ({ suppressed, within_levels: within }) => {
      if (suppressed > limit) return badge("no", "bad");
      return within ? badge("yes", "good") : badge("outside the levels", "warning");
    }),
    line(
      "suppressed rows",
      (node) => `${number(node.suppressed)} (${share(node.suppressed, node.rows)})`,
      (node) => node.suppressed,
    ),
    line(
      "loss",
      (node) => node.loss.toFixed(4),
      (node) => node.loss,
    ),
    nodes[0].cost &&
      line(
        `cost, ${nodes[0].cost.name}`,
        (node) => costText(node.cost.value),
        (node) => [node.cost.value].flat()[0],
      ),
    line(
      "height",
      (node) => number(node.height),
      (node) => node.height,
    ),
    kept !== null &&
      line(
        "published groups",
        (node) => number(node.kept),
        (node) => -node.kept,
      ),
    line(`smallest group, in ${unit}`, (node) => number(node.smallest)),
    mean !== null &&
      line(
        "mean group",
        (node) => (node.mean === null ? "–" : node.mean.toFixed(1)),
        (node) => node.mean,
      ),
    line("largest group", (node) => number(node.largest)),
    Object.keys(distinct).map((name) => line(`least distinct ${name}`, (node) => number(node.least_distinct[name]))),
  ];
}

/** One figure of each node; the least `cost` is marked as the best. */
function figureLine(nodes, title, words, cost = () => null) {
  const costs = nodes.map(cost);
  const known = costs.filter((each) => each !== null);
  const best = new Set(costs).size > 1 ? Math.min(...known) : null;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, title),
    nodes.map((node, i) =>
      h("td", { class: `number ${best !== null && costs[i] === best ? "best" : ""}` }, words(node)),
    ),
  );
}

function levelLine(nodes, { name, levels }) {
  const differs = new Set(nodes.map((node) => node.levels[name])).size > 1;
  return h(
    "tr",
    { class: differs ? "differs" : "" },
    h("th", { scope: "row" }, name),
    nodes.map((node) => {
      const level = node.levels[name];
      return h(
        "td",
        { class: "number" },
        `${level}: `,
        h("span", { class: "muted" }, levels[level].examples[0] ?? "–"),
      );
    }),
  );
}
