// Below the lattice: rows before and after, nodes side by side, the history, all nodes as a table, attributes given up.

import { errorText, get, post } from "../api.js";
import { badge, button } from "../components/parts.js";
import { table } from "../components/table.js";
import { tabs } from "../components/tabs.js";
import { clear, h } from "../dom.js";
import { number, share } from "../format.js";

const PAGE = 25;

/** The panel below; it asks only for the tab in sight, and only once moves rest. */
export class MorePanel {
  constructor(facts, { signal, announce, state, onApply, onLook }) {
    Object.assign(this, { facts, signal, announce, state, onApply, onLook });
    this.tab = "rows";
    this.compared = [];
    this.first = 0;
    this.order = "height";
    this.only = "all";
    this.areas = Object.fromEntries(
      ["rows", "comparison", "history", "nodes", "attributes"].map((id) => [id, h("div", { class: "stack tight" })]),
    );
    this.tabs = tabs(
      [
        { id: "rows", label: "Rows before and after", panel: this.areas.rows },
        { id: "comparison", label: "Compare nodes", panel: this.areas.comparison },
        { id: "history", label: "History", panel: this.areas.history },
        { id: "nodes", label: "All nodes", panel: this.areas.nodes },
        { id: "attributes", label: "Give up an attribute", panel: this.areas.attributes },
      ],
      {
        label: "More of this negotiation",
        onSelect: (id) => {
          this.tab = id;
          this.changed();
        },
      },
    );
    this.element = h(
      "section",
      { class: "panel more-panel", aria: { label: "More of this negotiation" } },
      h("div", { class: "panel-body" }, this.tabs),
    );
  }

  /** The request or the node changed: bring the tab in sight up to date. */
  async changed() {
    const { answer } = this.state();
    if (!answer) return;
    const { tab } = this;
    const run = {
      rows: () => this.showRows(answer),
      comparison: () => this.showComparison(answer),
      history: () => this.showHistory(),
      nodes: () => this.showNodes(answer),
      attributes: () => this.showAttributes(answer),
    }[tab];
    try {
      await run();
    } catch (error) {
      if (error.name !== "AbortError") clear(this.areas[tab], h("p", { class: "form-error" }, errorText(error)));
    }
  }

  historyChanged() {
    if (this.tab === "history") this.changed();
  }

  async ask(path, body) {
    return post(`/api/negotiate/${path}`, body, { signal: this.signal });
  }

  async showRows({ request, node }) {
    const { rows, attributes } = await this.ask("rows", { request, levels: node.levels, number: 6 });
    const cell = (value) => (value === null ? h("i", { class: "muted" }, "NULL") : value);
    const pairs = rows.flatMap((row) => [
      h(
        "tr",
        { class: "before" },
        h("th", { scope: "row" }, "before"),
        row.before.map((value) => h("td", {}, cell(value))),
        h("td", {}),
        h("td", {}),
      ),
      h(
        "tr",
        { class: row.suppressed ? "after gone" : "after" },
        h("th", { scope: "row" }, "after"),
        row.after.map((value, i) =>
          h(
            "td",
            { class: row.suppressed || value === row.before[i] ? "" : "changed" },
            row.suppressed ? "✕" : cell(value),
          ),
        ),
        h("td", { class: "number" }, number(row.size)),
        h("td", {}, row.suppressed ? badge("suppressed", "bad") : badge("published", "good")),
      ),
    ]);
    clear(
      this.areas.rows,
      h("p", { class: "small muted" }, "A few real rows, for your eyes only: they are in no log, report or release."),
      h(
        "div",
        { class: "scroll-x", tabindex: "0", role: "region", aria: { label: "Rows before and after" } },
        h(
          "table",
          { class: "table dense preview-table" },
          h("caption", { class: "visually-hidden" }, "Rows before and after"),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("td", {}),
              attributes.map((name) => h("th", { scope: "col" }, name)),
              h("th", { scope: "col", class: "number" }, "class size"),
              h("th", { scope: "col" }, "in the release"),
            ),
          ),
          h("tbody", {}, pairs),
        ),
      ),
    );
  }

  /** Put a node beside the others; the first one is replaced where there are three. */
  compare(levels) {
    const key = JSON.stringify(levels);
    if (!this.compared.some((each) => JSON.stringify(each) === key))
      this.compared = [...this.compared, levels].slice(-3);
    this.tabs.select("comparison");
    this.announce(`${this.compared.length} nodes to compare, below the lattice`);
    return this.compared.length;
  }

  async showComparison(answer) {
    const area = this.areas.comparison;
    const wanted = this.compared.length > 0 ? this.compared : [answer.node.levels];
    const shown =
      this.compared.length === 1 && JSON.stringify(this.compared[0]) !== JSON.stringify(answer.node.levels)
        ? [...wanted, answer.node.levels]
        : wanted;
    const { nodes, limit } = await this.ask("comparison", { request: answer.request, nodes: shown });
    const line = (title, value, best = null) => {
      const values = nodes.map((node) => value(node));
      const numeric = nodes.map((node) => (best ? best(node) : null));
      const least =
        best && nodes.length > 1 && new Set(numeric).size > 1
          ? Math.min(...numeric.filter((each) => each !== null))
          : null;
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, title),
        values.map((each, i) =>
          h("td", { class: `number ${least !== null && numeric[i] === least ? "best" : ""}` }, each),
        ),
      );
    };
    const distinct = Object.keys(nodes[0].least_distinct);
    const differs = (name) => new Set(nodes.map((node) => node.levels[name])).size > 1;
    clear(
      area,
      nodes.length < 2 &&
        h(
          "p",
          { class: "small muted" },
          "Look at another node of the lattice and press Compare: up to three stand side by side. The one that " +
            "is shown joins a single one.",
        ),
      h(
        "div",
        { class: "scroll-x", tabindex: "0", role: "region", aria: { label: "Nodes side by side" } },
        h(
          "table",
          { class: "table dense comparison-table" },
          h("caption", { class: "visually-hidden" }, "Nodes side by side"),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("td", {}),
              nodes.map((node, i) =>
                h(
                  "th",
                  { scope: "col", class: "number" },
                  h(
                    "button",
                    { class: "node-step", type: "button", on: { click: () => this.onLook(node.levels) } },
                    this.facts.attributes.map(({ name }) => node.levels[name]).join(" "),
                  ),
                  this.compared.length > 0 &&
                    i < this.compared.length &&
                    h(
                      "button",
                      {
                        class: "button small quiet",
                        type: "button",
                        aria: { label: `Take node ${i + 1} away` },
                        on: {
                          click: () => {
                            this.compared.splice(i, 1);
                            this.changed();
                          },
                        },
                      },
                      "✕",
                    ),
                ),
              ),
            ),
          ),
          h(
            "tbody",
            {},
            line("meets the request", (node) =>
              node.suppressed > limit
                ? badge("no", "bad")
                : node.within_levels
                  ? badge("yes", "good")
                  : badge("outside the levels", "warning"),
            ),
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
            line(
              "height",
              (node) => number(node.height),
              (node) => node.height,
            ),
            nodes[0].kept !== null &&
              line(
                "published classes",
                (node) => number(node.kept),
                (node) => -node.kept,
              ),
            line(`smallest class, in ${nodes[0].unit}`, (node) => number(node.smallest)),
            nodes[0].mean !== null &&
              line(
                "mean class",
                (node) => (node.mean === null ? "–" : node.mean.toFixed(1)),
                (node) => node.mean,
              ),
            line("largest class", (node) => number(node.largest)),
            distinct.map((name) => line(`least distinct ${name}`, (node) => number(node.least_distinct[name]))),
            this.facts.attributes.map((attribute) =>
              h(
                "tr",
                { class: differs(attribute.name) ? "differs" : "" },
                h("th", { scope: "row" }, attribute.name),
                nodes.map((node) => {
                  const level = node.levels[attribute.name];
                  return h(
                    "td",
                    { class: "number" },
                    `${level}: `,
                    h("span", { class: "muted" }, attribute.levels[level].examples[0] ?? "–"),
                  );
                }),
              ),
            ),
          ),
        ),
      ),
    );
  }

  async showHistory() {
    const { requests } = await get("/api/negotiate/requests?last=60", { signal: this.signal });
    const { past, at } = this.state();
    const current = JSON.stringify(past[at]);
    clear(
      this.areas.history,
      table({
        caption: "Requests, the latest first",
        dense: true,
        rows: [...requests].reverse(),
        empty: "No request yet: move a slider.",
        selected: (entry) => JSON.stringify(entry.request) === current,
        columns: [
          {
            key: "at",
            title: "time",
            render: (entry) => new Date(entry.at).toLocaleString("en-GB", { dateStyle: "short", timeStyle: "short" }),
          },
          { key: "request", title: "request", head: true, render: (entry) => requestWords(entry.request, this.facts) },
          {
            key: "outcome",
            title: "answer",
            render: (entry) => badge(entry.outcome, entry.outcome === "exact" ? "good" : "warning"),
          },
          {
            key: "node",
            title: "levels",
            render: (entry) =>
              entry.answer
                ? h(
                    "button",
                    { class: "node-step", type: "button", on: { click: () => this.onLook(entry.answer.levels) } },
                    Object.values(entry.answer.levels).join(" "),
                  )
                : "–",
          },
          {
            key: "suppressed",
            title: "suppressed",
            number: true,
            render: (entry) => (entry.answer ? number(entry.answer.suppressed) : "–"),
          },
          {
            key: "again",
            title: "",
            render: (entry) => button("Ask again", { small: true, onClick: () => this.onApply(entry.request) }),
          },
        ],
      }),
    );
  }

  async showNodes({ request }) {
    const found = await this.ask("nodes", {
      request,
      first: this.first,
      number: PAGE,
      order: this.order,
      only: this.only,
    });
    if (this.first > 0 && this.first >= found.total) {
      this.first = 0;
      return this.showNodes({ request });
    }
    const choice = (label, value, options, set) =>
      h(
        "label",
        { class: "row small" },
        label,
        h(
          "select",
          {
            class: "input slim",
            value,
            on: {
              change: (event) => {
                set(event.target.value);
                this.first = 0;
                this.changed();
              },
            },
          },
          options.map(([key, words]) => h("option", { value: key, selected: key === value }, words)),
        ),
      );
    const turn = (label, by, off) =>
      button(label, {
        small: true,
        disabled: off,
        onClick: () => {
          this.first += by;
          this.changed();
        },
      });
    clear(
      this.areas.nodes,
      h(
        "div",
        { class: "row" },
        choice(
          "Show",
          this.only,
          [
            ["all", "all nodes"],
            ["meets", "those that meet the request"],
            ["frontier", "the frontier"],
          ],
          (value) => {
            this.only = value;
          },
        ),
        choice(
          "by",
          this.order,
          [
            ["height", "height, then loss"],
            ["suppressed", "suppressed rows"],
            ["loss", "loss"],
          ],
          (value) => {
            this.order = value;
          },
        ),
        turn("Previous", -PAGE, this.first === 0),
        turn("Next", PAGE, this.first + PAGE >= found.total),
        h(
          "span",
          { class: "small muted" },
          found.total === 0
            ? "none"
            : `${number(this.first + 1)}–${number(Math.min(found.total, this.first + PAGE))} of ${number(found.total)}`,
        ),
      ),
      h(
        "div",
        { class: "scroll-x", tabindex: "0", role: "region", aria: { label: "Nodes of the lattice" } },
        table({
          caption: "Nodes of the lattice",
          hideCaption: true,
          dense: true,
          rows: found.nodes,
          empty: "No node is so.",
          onSelect: (node) => this.onLook(node.levels),
          columns: [
            ...found.attributes.map((name) => ({
              key: name,
              title: name,
              number: true,
              render: (node) => node.levels[name],
            })),
            { key: "height", title: "height", number: true },
            { key: "loss", title: "loss", number: true, render: (node) => node.loss.toFixed(3) },
            { key: "suppressed", title: "suppressed", number: true, render: (node) => number(node.suppressed) },
            {
              key: "meets",
              title: "meets the request",
              render: (node) => (node.meets ? badge("yes", "good") : badge("no", "plain")),
            },
          ],
        }),
      ),
    );
    return null;
  }

  async showAttributes({ request }) {
    const { attributes, rows } = await this.ask("attributes", { request });
    clear(
      this.areas.attributes,
      h(
        "p",
        { class: "small muted" },
        "The same request with one attribute at its top in turn. The classes are the same where its column is " +
          "left out of the release; “height without” leaves its levels out.",
      ),
      h(
        "div",
        { class: "scroll-x" },
        table({
          caption: "What giving up one attribute would buy",
          hideCaption: true,
          dense: true,
          rows: attributes,
          onSelect: (each) => this.onLook(each.levels),
          columns: [
            { key: "attribute", title: "given up", head: true },
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
      ),
    );
  }
}

/** A request in a few words. */
function requestWords(request, facts) {
  const parts = [];
  if (request.k !== null) parts.push(`k=${number(request.k)}`);
  if (typeof request.l === "number") parts.push(`l=${request.l}`);
  else if (request.l) parts.push(...Object.entries(request.l).map(([name, value]) => `l(${name})=${value}`));
  const most = request.max_suppressed;
  parts.push(`at most ${typeof most === "number" ? number(most) : most} suppressed`);
  for (const { name } of facts.attributes) {
    if (name in request.max_level) parts.push(`${name} ≤ ${request.max_level[name]}`);
    if (name in request.min_level) parts.push(`${name} ≥ ${request.min_level[name]}`);
  }
  return parts.join(", ");
}
