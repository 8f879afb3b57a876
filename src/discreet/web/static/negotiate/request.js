// The request: sliders and number fields that are synchronized.

import { errorText } from "../api.js";
import { formError } from "../components/form.js";
import { stopSlider } from "../components/stop-slider.js";
import { clear, h, uid } from "../dom.js";
import { range } from "../numbers.js";
import { CostChoice } from "./cost-choice.js";
import { CriteriaControls } from "./criteria.js";
import { LevelRange } from "./level-range.js";
import { suppressionLimit } from "./suppression-limit.js";
import { RequestTabs } from "./request-tabs.js";
import { spoken } from "./words.js";

const K_STOPS = [
  range(1, 20),
  [22, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100],
  [125, 150, 200, 250, 300, 400, 500, 750, 1000],
].flat();

const MOST_ROWS = 9;

/** The panel on the left; `onChange(body)` at each step. */
export class RequestPanel {
  constructor(facts, { onChange }) {
    this.facts = facts;
    this.onChange = onChange;
    this.isWrong = false;
    this.error = formError();
    this.again = h("button", { class: "text-link", type: "button", on: { click: () => this.tell() } }, "Ask again");
    this.k = stopSlider({
      label: "k",
      hint: `${facts.unit} per group, at least`,
      name: "k",
      stops: K_STOPS,
      least: 1,
      most: 1e9,
      onInput: () => this.tell(),
    });
    this.l = facts.sensitive.map((sensitive) => ({
      name: sensitive.name,
      control: stopSlider({
        label: facts.sensitive.length === 1 ? "l" : `l of ${sensitive.name}`,
        hint: facts.sensitive.length === 1 ? `values of ${spoken(sensitive.name)}` : "different values",
        name: `l ${sensitive.name}`,
        stops: range(1, Math.max(2, Math.min(30, sensitive.values))),
        least: 1,
        most: 1e9,
        onInput: () => this.tell(),
      }),
    }));
    this.criteria = new CriteriaControls(
      facts.criteria,
      facts.sensitive.map((each) => each.name),
      { onInput: () => this.tell() },
    );
    this.limit = suppressionLimit(facts.rows, () => this.tell());
    this.levels = facts.attributes.map((attribute) => new LevelRange(attribute, () => this.tell()));
    this.scope = h(
      "select",
      { class: "input", id: uid("scope"), on: { change: () => this.tell() } },
      h("option", { value: "above" }, "at or above the requested levels"),
      h("option", { value: "global" }, "anywhere in the lattice"),
    );
    this.cost = new CostChoice(facts.costs, { onInput: () => this.tell() });
    this.reset = h(
      "button",
      {
        class: "text-link",
        type: "button",
        on: {
          click: () => {
            for (const each of this.levels) each.set(0, each.height);
            this.tell();
          },
        },
      },
      "All levels",
    );
    this.tabs = new RequestTabs(this);
    this.element = h(
      "section",
      { class: "request", aria: { label: "Request" } },
      this.tabs.element,
      h("h2", { class: "wide-only" }, "Your request"),
      this.error,
      h("div", { class: "part", dataset: { part: "k" } }, this.k.element),
      h(
        "div",
        { class: "part", dataset: { part: "l" } },
        this.l.map((each) => each.control.element),
        this.criteria.element,
      ),
      h("div", { class: "part", dataset: { part: "limit" } }, this.limit.element),
      h(
        "fieldset",
        { class: "level-ranges part", dataset: { part: "levels" } },
        h("legend", {}, "Allowed levels of each column"),
        this.reset,
        this.shownLevels(),
      ),
    );
    this.further = h(
      "div",
      { class: "further-request" },
      h("div", { class: "field scope" }, h("label", { for: this.scope.id }, "Relax the height"), this.scope),
      this.cost.element,
    );
  }

  /** Return the rows of the attributes; of more than nine those with most levels, the others behind a button. */
  shownLevels() {
    const { levels } = this;
    if (levels.length <= MOST_ROWS) return levels.map((each) => each.element);
    const byHeight = [...levels].sort((a, b) => b.height - a.height);
    const first = new Set(byHeight.slice(0, MOST_ROWS));
    for (const each of levels) each.element.hidden = !first.has(each);
    const more = h(
      "button",
      {
        class: "text-link more-columns",
        type: "button",
        on: {
          click: () => {
            for (const each of levels) each.element.hidden = false;
            more.remove();
            levels.find((each) => !first.has(each)).chips[0].focus();
          },
        },
      },
      `${levels.length - MOST_ROWS} more`,
    );
    return [...levels.map((each) => each.element), more];
  }

  tell() {
    this.onChange(this.body());
  }

  /** Return the request in the form of the server. */
  body() {
    const { facts } = this;
    const requested = this.l.map(({ name, control }) => [name, control.value]).filter(([, value]) => value > 1);
    let l = null;
    if (requested.length > 0) l = facts.sensitive.length === 1 ? requested[0][1] : Object.fromEntries(requested);
    const criteria = this.criteria.value();
    const cost = this.cost.value();
    const by = (pick) => Object.fromEntries(this.levels.map(pick).filter(Boolean));
    return {
      k: this.k.value,
      l,
      max_suppressed: this.limit.value,
      max_level: by((each) => each.high < each.height && [each.name, each.high]),
      min_level: by((each) => each.low > 0 && [each.name, each.low]),
      scope: this.scope.value,
      ...(criteria === null ? {} : { criteria }),
      ...(cost === null ? {} : { cost }),
    };
  }

  /** Show a request. */
  set(body) {
    this.k.set(body.k ?? 1);
    for (const { name, control } of this.l) control.set((typeof body.l === "number" ? body.l : body.l?.[name]) ?? 1);
    this.criteria.set(body.criteria);
    this.limit.set(body.max_suppressed);
    for (const each of this.levels) each.set(body.min_level[each.name] ?? 0, body.max_level[each.name] ?? each.height);
    this.scope.value = body.scope;
    this.cost.set(body.cost ?? null);
  }

  /** Mark the levels of the shown node. */
  mark(levels) {
    for (const each of this.levels) each.mark(levels[each.name]);
    this.reset.hidden = this.levels.every((each) => each.low === 0 && each.high === each.height);
    this.tabs.tell();
  }

  setError(error) {
    this.isWrong = error !== null;
    clear(this.error, error === null ? [] : [errorText(error), " ", this.again]);
  }
}
