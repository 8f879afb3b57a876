// What a release must meet where no node is chosen: k, l, further criteria, and how many rows may be suppressed.

import { h } from "../dom.js";
import { field, input } from "../components/field.js";
import { CriteriaControls } from "../negotiate/criteria.js";

/** `element`, `fit(model)` shows what a model can be asked for, `body(model)` is what is asked. */
export function requirement(overview) {
  const k = field({
    label: "k",
    hint: "Least rows of a class.",
    name: "k",
    optional: true,
    control: input({ type: "number", min: 1, value: overview.k ?? "" }),
  });
  const l = field({
    label: "l",
    hint: "Least distinct sensitive values of a class.",
    name: "l",
    optional: true,
    control: input({ type: "number", min: 1, value: Number.isInteger(overview.l) ? overview.l : "" }),
  });
  const most = field({
    label: "Suppressed at most",
    hint: "Rows, or a share such as 1%.",
    name: "max_suppressed",
    optional: true,
    control: input({ value: overview.max_suppressed ?? "" }),
  });
  const criteria = new CriteriaControls(overview.criterion_kinds, overview.sensitive, { onInput: () => {} });
  criteria.set(overview.criteria);
  const element = h("div", { class: "stack" }, h("div", { class: "form columns" }, k, l, most), criteria.element);
  return {
    element,
    fit(model) {
      element.hidden = model.takes_levels;
      l.hidden = !model.takes_l;
      criteria.offer(model.takes_l);
      most.hidden = !model.takes_suppression;
      k.querySelector(".hint").textContent = model.permuted
        ? "Least distinct values of a group."
        : "Least rows of a class.";
    },
    body: (model) => ({
      k: whole(k),
      ...(model.takes_l ? { l: whole(l), criteria: criteria.value() ?? {} } : {}),
      ...(model.takes_suppression && most.control.value.trim() ? { max_suppressed: most.control.value.trim() } : {}),
    }),
  };
}

function whole({ control }) {
  return control.value.trim() === "" ? null : Number(control.value);
}
