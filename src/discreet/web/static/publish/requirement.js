// The requirement of a release without a chosen node: k, l, further criteria, and the limit of suppressed rows.

import { h } from "../dom.js";
import { field, input } from "../components/field.js";
import { CriteriaControls } from "../negotiate/criteria.js";

const WHOLE = "Enter a whole number of at least 1.";
const LIMIT = "Enter a number of rows, or a percentage from 0% to 100%.";

/**
 * `element`, `check(model)` shows errors, `fit(model)` shows the fields that apply to a model, `body(model)` returns
 * the requirement.
 */
export function requirement(overview) {
  const k = field({
    label: "k",
    hint: "Least rows of a group.",
    name: "k",
    control: input({ inputmode: "numeric", required: true, value: overview.k ?? "" }),
  });
  const l = field({
    label: "l",
    hint: "Least distinct sensitive values of a group.",
    name: "l",
    optional: true,
    control: input({ inputmode: "numeric", value: Number.isInteger(overview.l) ? overview.l : "" }),
  });
  const most = field({
    label: "Suppressed at most",
    hint: "Rows, or a percentage such as 1%.",
    name: "max_suppressed",
    control: input({ value: overview.max_suppressed ?? "" }),
  });
  // Several sensitive attributes may have different values of l from a negotiation: then there is no field.
  const byAttribute = overview.l !== null && typeof overview.l === "object" ? overview.l : null;
  if (byAttribute !== null) {
    l.control.value = Object.entries(byAttribute)
      .map(([name, least]) => `${least} of ${name}`)
      .join(", ");
    l.control.readOnly = true;
    l.querySelector(".hint").textContent = "As negotiated; change it there.";
  }
  const criteria = new CriteriaControls(overview.criterion_kinds, overview.sensitive, { onInput: () => {} });
  criteria.set(overview.criteria);
  const element = h("div", { class: "stack" }, h("div", { class: "form columns" }, k, l, most), criteria.element);
  /** Show errors next to their fields and focus the first; return true if there are none. */
  const check = (model) => {
    const wrong = [
      [k, whole(k.control.value) === null && (k.control.value.trim() !== "" || !hasOther(model))],
      [l, !l.hidden && byAttribute === null && l.control.value.trim() !== "" && whole(l.control.value) === null],
      [most, !most.hidden && !isLimit(most.control.value)],
    ].filter(([, isWrong]) => isWrong);
    for (const [place] of wrong) place.setError(place === most ? LIMIT : WHOLE);
    wrong[0]?.[0].control.focus();
    return wrong.length === 0;
  };
  const hasOther = (model) =>
    model.takes_l && (byAttribute !== null || whole(l.control.value) !== null || criteria.value() !== null);
  return {
    element,
    check: (model) => model.takes_levels || check(model),
    fit(model) {
      element.hidden = model.takes_levels;
      l.hidden = !model.takes_l;
      criteria.offer(model.takes_l);
      most.hidden = !model.takes_suppression;
      k.querySelector(".hint").textContent = model.permuted
        ? "Least distinct values of a group."
        : "Least rows of a group.";
    },
    body: (model) => ({
      k: whole(k.control.value),
      ...(model.takes_l ? { l: byAttribute ?? whole(l.control.value), criteria: criteria.value() ?? {} } : {}),
      ...(model.takes_suppression ? { max_suppressed: most.control.value.trim() || "0" } : {}),
    }),
  };
}

/** Return an integer of at least 1, null if a text is none. */
function whole(text) {
  const found = Number(text.trim());
  return text.trim() !== "" && Number.isInteger(found) && found >= 1 && found <= 1e9 ? found : null;
}

function isLimit(text) {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(%?)\s*$/.exec(text);
  if (text.trim() === "") return true;
  return found !== null && (found[2] ? Number(found[1]) <= 100 : Number.isInteger(Number(found[1])));
}
