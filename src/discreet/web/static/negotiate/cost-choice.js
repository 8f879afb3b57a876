// The cost that the frontier compares with suppressed rows: height and loss, or a named cost with its options.

import { optionField, showOptions, typedOptions } from "../components/option-field.js";
import { clear, h, uid } from "../dom.js";

/** `costs` are the server's descriptions; `onInput()` at each choice. */
export class CostChoice {
  constructor(costs, { onInput }) {
    this.costs = costs;
    this.select = h(
      "select",
      {
        class: "input",
        id: uid("cost"),
        on: {
          change: () => {
            this.show({});
            onInput();
          },
        },
      },
      h("option", { value: "" }, "height and loss"),
      costs.map(({ name, meaning }) => h("option", { value: name, title: meaning }, name)),
    );
    this.meaning = h("p", { class: "sentence hint" });
    this.options = h("div", { class: "fixed-parts stack tight", on: { change: onInput } });
    this.element = h(
      "div",
      { class: "field scope cost-choice" },
      h("label", { for: this.select.id }, "Frontier weighs suppression against"),
      this.select,
      this.meaning,
      this.options,
    );
    this.show({});
  }

  get cost() {
    return this.costs.find((each) => each.name === this.select.value);
  }

  /** Return a name, a table of the name and the selected options, or null. */
  value() {
    const { cost } = this;
    if (!cost) return null;
    const chosen = typedOptions(this.options, cost.fields);
    return Object.keys(chosen).length > 0 ? { name: cost.name, ...chosen } : cost.name;
  }

  /** Show the cost of a request. */
  set(requested) {
    const { name, ...options } = typeof requested === "string" ? { name: requested } : (requested ?? { name: "" });
    this.select.value = name;
    this.show(options);
  }

  show(options) {
    const { cost } = this;
    this.meaning.textContent = cost ? cost.meaning : "";
    this.meaning.hidden = !cost;
    clear(
      this.options,
      (cost?.fields ?? []).map((option) => {
        const free = option.kind === "choice" && option.default === null;
        return optionField(free ? { ...option, choices: ["", ...option.choices] } : option);
      }),
    );
    this.options.hidden = !cost || cost.fields.length === 0;
    showOptions(this.options, options);
  }
}
