// The attacker's file: dropped, its columns matched with quasi-identifiers, then linked with the release.

import { errorText, query, upload } from "../api.js";
import { clear, h } from "../dom.js";
import { count } from "../format.js";
import { dropZone } from "../components/drop-zone.js";
import { field, select } from "../components/field.js";
import { jobForm, showError } from "../components/form.js";
import { button, notice, panel } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { progress } from "../components/progress.js";
import { journalistRisk, links } from "./linkage.js";

/**
 * The panel of the linkage attack. `attackBody()` returns the common options of attacks (the release and its limits),
 * `keys` are columns of the original that may identify persons. `.begin(release)` starts again with a release.
 */
export function linkageAttack({ attackBody, keys, context: { signal, announce } }) {
  const file = h("div", { class: "stack" });
  const found = h("div", { class: "stack" });
  let release = null;
  const element = panel(
    {
      title: "Linkage attack",
      note: "Records of an attacker's file are matched with rows; a generalized value matches all values it covers.",
    },
    file,
    found,
  );
  element.begin = (chosen) => {
    release = chosen;
    clear(found);
    clear(file, askForFile());
  };

  function askForFile() {
    return dropZone(
      { accept: ".csv,.tsv,.parquet,.json,.jsonl", id: "outside-file", onFile: take },
      h("p", {}, h("strong", {}, "Drop a file that an attacker might have"), " (a voter list, a customer list)"),
      h(
        "p",
        { class: "muted small" },
        "The file stays in your workspace. One record per line, with columns that match quasi-identifiers.",
      ),
    );
  }

  async function take(given) {
    const bar = progress(`Reading ${given.name}`);
    clear(file, bar.element);
    try {
      const stored = await upload(given, bar.set, { signal, replace: true });
      const body = { release: release.name, outside: stored.name };
      clear(file, matching(await query("/api/attacker/outside", body, { signal })));
    } catch (error) {
      clear(file, askForFile(), notice(errorText(error), "bad"));
    }
  }

  function matching(outside) {
    const { kind, key, original, chosenKey } = keyFields(outside, keys);
    const proposed = Object.fromEntries(Object.entries(outside.match).map(([column, name]) => [name, column]));
    const matches = release.quasi_identifiers.map((name) =>
      field({
        label: name,
        name: `match.${name}`,
        control: select([["", "– not matched –"], ...outside.columns], { value: proposed[name] ?? "" }),
      }),
    );
    const body = () => ({
      ...attackBody(),
      match: Object.fromEntries(
        matches.flatMap(({ control }, i) => (control.value ? [[control.value, release.quasi_identifiers[i]]] : [])),
      ),
      [kind.control.value]: outside.name,
      ...(kind.control.value === "outside" ? chosenKey() : {}),
    });
    const linked = jobForm(
      {
        send: "Link",
        actions: [
          button("Another file", { tone: "quiet", onClick: () => element.begin(release) }),
          scriptActions("attack", body, { onError: (error) => showError(linked, error), signal }),
        ],
        title: () => "Linking",
        place: found,
        start: () => query("/api/attacker/jobs", body(), { signal }),
        signal,
        onResult: (result) => {
          clear(found, result.journalist ? journalistRisk(result) : links(result));
          announce("The linkage attack is done.");
        },
      },
      h(
        "p",
        {},
        h("strong", {}, outside.name),
        `: ${count(outside.columns.length, "column")}. Select the quasi-identifier of each column.`,
      ),
      h("div", { class: "form columns" }, matches),
      h("div", { class: "form columns" }, kind, release.comparable && [key, original]),
    );
    return linked;
  }

  return element;
}

/** Fields for the kind of the file, and for the key columns in it and in the original. */
function keyFields(outside, keys) {
  const kind = field({
    label: "The file contains",
    name: "kind",
    control: select([
      ["outside", "some people"],
      ["population", "the population"],
    ]),
  });
  const key = field({
    label: "Key of the file",
    hint: "A column that identifies persons and is also in the original.",
    optional: true,
    name: "key",
    control: select([["", "– none –"], ...outside.columns], { value: "" }),
  });
  const original = field({
    label: "Key in the original",
    optional: true,
    name: "original",
    control: select([["", "– none –"], ...keys], { value: "" }),
  });
  key.control.addEventListener("change", () => {
    if (keys.includes(key.control.value)) original.control.value = key.control.value;
  });
  const chosenKey = () =>
    key.control.value && original.control.value ? { key: `${key.control.value}=${original.control.value}` } : {};
  return { kind, key, original, chosenKey };
}
