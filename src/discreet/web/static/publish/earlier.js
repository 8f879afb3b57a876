// Earlier releases of the same rows: an attacker can intersect them with this one.

import { checkbox } from "../components/field.js";
import { clear, h } from "../dom.js";

/** Checkboxes, shown if there are such releases; `.offer(releases)`, and `.names()` of those ticked. */
export function earlierReleases(quasiIdentifiers) {
  const boxes = h("div", { class: "stack tight" });
  const error = h("p", { class: "field-error", hidden: true });
  const element = h(
    "fieldset",
    { class: "field", dataset: { field: "previous_releases" } },
    h("legend", {}, "Safe together with"),
    h("p", { class: "hint" }, "Releases of the same people. k and l must also hold for the intersection with them."),
    boxes,
    error,
  );
  element.control = boxes;
  element.setError = (words) => {
    error.hidden = !words;
    error.textContent = words ?? "";
  };
  element.names = () => [...boxes.querySelectorAll("input:checked")].map((box) => box.value);
  element.offer = (releases) => {
    const ticked = new Set(element.names());
    const fitting = releases.filter((release) => isEarlier(release, quasiIdentifiers));
    element.hidden = fitting.length === 0;
    clear(
      boxes,
      fitting.map(({ name }) => checkbox(name, { value: name, checked: ticked.has(name) })),
    );
  };
  return element;
}

/** Return true if a release is a file whose classes can be intersected with those of another one. */
export function isEarlier(release, quasiIdentifiers) {
  const same =
    release.quasi_identifiers.length === quasiIdentifiers.length &&
    release.quasi_identifiers.every((name) => quasiIdentifiers.includes(name));
  return same && !release.permuted && Object.keys(release.tables ?? {}).length === 0;
}
