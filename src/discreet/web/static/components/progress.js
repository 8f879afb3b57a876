// Progress of long work: a bar with its text, and a way to cancel.

import { h, uid } from "../dom.js";
import { number } from "../format.js";
import { button } from "./parts.js";

/** `{element, set(done, total, note), tell(job)}`; without a total the bar is indeterminate. */
export function progress(label, { onCancel = null } = {}) {
  const id = uid("progress");
  const bar = h("progress", { id, max: 100 });
  const words = h("span", { class: "muted small number" });
  const element = h(
    "div",
    { class: "progress", role: "group", aria: { label } },
    h(
      "div",
      { class: "row between" },
      h("label", { for: id }, label),
      onCancel && button("Cancel", { small: true, onClick: onCancel }),
    ),
    bar,
    words,
  );
  const set = (done, total, note = null) => {
    if (total) bar.value = (100 * done) / total;
    else bar.removeAttribute("value");
    words.textContent = note ?? counted(done, total);
  };
  const tell = ({ done, total, stage, notices }) => {
    const progressText = [stage !== label && stage, counted(done, total)].filter(Boolean).join(": ");
    set(done, total, notices.at(-1) ?? progressText);
  };
  return { element, set, tell };
}

function counted(done, total) {
  return total ? `${number(done ?? 0)} of ${number(total)}` : "";
}
