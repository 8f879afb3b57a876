// One undo for all screens: the header's buttons, the keys, and the timeline of versions.

import { ApiError, errorText, get, post } from "./api.js";
import { openDialog } from "./components/dialog.js";
import { badge, button } from "./components/parts.js";
import { announce, toast, toastError } from "./components/status.js";
import { clear, h, visuallyHidden } from "./dom.js";
import { icon } from "./icons.js";
import { stepOfKeys } from "./undo-keys.js";

/** `pending()` before a step, `travelled(answer)` after it; `place` contains the buttons. */
export function versionControls(place, { pending, travelled }) {
  const control = (label, which, act) => {
    const found = h(
      "button",
      { class: `button quiet icon-button ${which}`, type: "button", title: label, on: { click: act } },
      icon(which),
      visuallyHidden(label),
    );
    return found;
  };
  const undo = control("Undo", "undo", () => step("undo"));
  const redo = control("Redo", "redo", () => step("redo"));
  const all = control("Versions", "versions", () => timeline());
  clear(place, undo, redo, all);
  let under = Promise.resolve();

  function show({ undo: back, redo: forth }) {
    for (const [each, words, title] of [
      [undo, back, "Undo"],
      [redo, forth, "Redo"],
    ]) {
      each.setAttribute("aria-disabled", String(words === null));
      each.title = words === null ? title : `${title}: ${words}`;
    }
  }

  /** Request the changes that undo and redo would apply. */
  async function refresh() {
    try {
      show(await get("/api/versions/steps"));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  function step(which) {
    under = under.then(() => travel(which === "undo" ? "Undone" : "Redone", which));
    return under;
  }

  async function travel(action, to) {
    try {
      await pending();
      const answer = await post(`/api/versions/${to}`);
      show(answer.steps);
      await travelled(answer);
      announce(`${action}: ${answer.words}`);
    } catch (error) {
      if (error.kind === "conflict") announce(`${errorText(error)}`);
      else toastError(error);
    }
  }

  async function timeline() {
    await pending();
    const { versions } = await get("/api/versions");
    const back = (version) => {
      document.querySelector("dialog.versions")?.close("null");
      travel("Back", version.number).then(() => toast(`Back to: ${version.words}`, { tone: "good" }));
    };
    await openDialog({
      title: "Versions of your work",
      kind: "versions",
      body: [
        h(
          "p",
          { class: "muted small" },
          "The table's settings, hierarchies and request after each change. Nothing is lost by going back.",
        ),
        h(
          "ol",
          { class: "timeline" },
          versions.map((version) => entry(version, back)),
          versions.length === 0 && h("li", { class: "muted" }, "Nothing yet: load a table first."),
        ),
      ],
      actions: [{ label: "Close", value: null }],
    });
  }

  document.addEventListener("keydown", (event) => {
    const which = stepOfKeys(event);
    if (which === null || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    step(which);
  });
  show({ undo: null, redo: null });
  return { refresh, timeline };
}

function entry(version, back) {
  const when = new Date(version.at);
  return h(
    "li",
    { class: version.current ? "current" : null, aria: { current: version.current ? "true" : null } },
    h("time", { datetime: version.at, class: "muted small number" }, timeOf(when)),
    h("span", { class: "grow" }, version.words),
    version.current
      ? badge("now", "accent")
      : button("Go back", { small: true, onClick: () => back(version), title: `Go back to: ${version.words}` }),
  );
}

function timeOf(when) {
  const today = when.toDateString() === new Date().toDateString();
  const options = today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  return when.toLocaleString("en-GB", options);
}
