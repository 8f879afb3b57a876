// The files that a named attack takes: dropped files, and existing releases.

import { errorText, upload } from "../api.js";
import { dropZone } from "../components/drop-zone.js";
import { checkbox } from "../components/field.js";
import { notice } from "../components/parts.js";
import { progress } from "../components/progress.js";
import { clear, h } from "../dom.js";

const OUTSIDE = {
  name: "outside",
  label: "A file of people known to the attacker. Columns with the same name are compared.",
};

/**
 * The inputs for an attack's files: `.offer(attack, releases)` with the names of the other releases, `.body()` in the
 * form of the server, `.check()` returns true if nothing is missing, and shows the missing files.
 */
export function attackFiles({ signal }) {
  const element = h("div", { class: "stack" });
  let fields = [];

  element.offer = (attack, releases) => {
    const outside = attack.needs.includes("outside") ? [OUTSIDE] : [];
    fields = [...outside, ...attack.files].map((file) =>
      file.is_release ? ofReleases(file, releases) : dropped(file),
    );
    clear(element, fields);
  };
  element.check = () => fields.map((each) => each.check()).every(Boolean);
  element.body = () => {
    const files = {};
    let outside = {};
    for (const each of fields) {
      if (each.option === OUTSIDE.name) outside = { outside: each.names()[0] };
      else if (each.names().length > 0) files[each.option] = each.names();
    }
    return { ...outside, files };
  };
  return element;

  function dropped({ name, label }) {
    const place = h("div", { class: "stack" });
    let given = null;
    const zone = () =>
      dropZone({ accept: ".csv,.tsv,.parquet,.json,.jsonl", id: `${name}-of-attack`, onFile: take }, h("p", {}, label));
    async function take(file) {
      const bar = progress(`Reading ${file.name}`);
      clear(place, bar.element);
      try {
        given = (await upload(file, bar.set, { signal, replace: true })).name;
        clear(place, h("p", {}, h("strong", {}, file.name), " is read."));
      } catch (error) {
        clear(place, zone(), notice(errorText(error), "bad"));
      }
    }
    clear(place, zone());
    return withCheck(place, name, () => (given === null ? [] : [given]), "Drop a file first.");
  }

  function ofReleases({ name }, releases) {
    const boxes = releases.map((each) => checkbox(each, { value: each, checked: releases.length === 1 }));
    const place = h(
      "fieldset",
      { class: "field" },
      h("legend", {}, "Earlier releases of the same people"),
      releases.length > 0
        ? boxes
        : h("p", { class: "hint" }, "There is no other release in a file. Publish one first."),
    );
    const ticked = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    return withCheck(place, name, ticked, "Select a release.");
  }
}

/** Add a check for missing files to a part of the form. */
function withCheck(place, option, names, message) {
  const error = h("p", { class: "field-error", hidden: true, role: "alert" });
  const element = h("div", { class: "stack tight" }, place, error);
  element.option = option;
  element.names = names;
  element.check = () => {
    const there = names().length > 0;
    error.hidden = there;
    error.textContent = there ? "" : message;
    if (!there) place.querySelector("input")?.focus();
    return there;
  };
  return element;
}
