// Below the lattice: rows before and after, nodes compared, the history, all nodes as a table, attributes given up.

import { errorText, get, query } from "../api.js";
import { tabs } from "../components/tabs.js";
import { clear, h } from "../dom.js";
import { updateLocation, pageLocation } from "../page-location.js";
import { comparison } from "./comparison.js";
import { givenUp } from "./given-up.js";
import { nodeTable } from "./node-table.js";
import { pastRequests } from "./past-requests.js";
import { rowPreview } from "./row-preview.js";

/**
 * The panel; it requests only the visible tab's data, once moves rest. `answer()` is the shown answer, `current()` the
 * request, `onApply(request)` sends another, `onLook(levels)` shows another node.
 */
export class MorePanel {
  constructor(facts, { signal, announce, answer, current, onApply, onLook }) {
    Object.assign(this, { announce, answer });
    const about = {
      facts,
      current,
      onApply,
      onLook,
      ask: (path, body) => query(`/api/negotiate/${path}`, body, { signal }),
      read: (path) => get(`/api/negotiate/${path}`, { signal }),
      again: () => this.changed(),
    };
    this.comparison = comparison(about);
    this.parts = [
      ["rows", "Rows before and after", rowPreview(about)],
      ["comparison", "Compare nodes", this.comparison],
      ["history", "History", pastRequests(about)],
      ["nodes", "All nodes", nodeTable(about)],
      ["attributes", "Drop an attribute", givenUp(about)],
    ].map(([id, label, draw]) => ({ id, label, draw, panel: h("div", { class: "stack tight" }) }));
    const wanted = pageLocation().params.get("more");
    this.tab = (this.parts.find((each) => each.id === wanted) ?? this.parts[0]).id;
    this.tabs = tabs(this.parts, {
      label: "Details of this negotiation",
      selected: this.tab,
      onSelect: (id) => {
        this.tab = id;
        updateLocation({ more: id === this.parts[0].id ? null : id });
        this.changed();
      },
    });
    this.element = h(
      "section",
      { class: "panel more-panel", aria: { label: "Details of this negotiation" } },
      h("div", { class: "panel-body" }, this.tabs),
    );
  }

  /** Update the visible tab after a change of the request or the node. */
  async changed() {
    const answer = this.answer();
    if (!answer) return;
    const { draw, panel } = this.parts.find((each) => each.id === this.tab);
    try {
      clear(panel, await draw(answer));
    } catch (error) {
      if (error.name !== "AbortError") clear(panel, h("p", { class: "form-error" }, errorText(error)));
    }
  }

  historyChanged() {
    if (this.tab === "history") this.changed();
  }

  /** Add a node to the comparison; it replaces the first of three. */
  compare(levels) {
    const many = this.comparison.add(levels);
    this.tabs.select("comparison");
    this.announce(`${many} nodes to compare, below the lattice`);
    return many;
  }
}
