// The tray: saved answers, script actions, and the button to publish.

import { scriptActions } from "../components/script-actions.js";
import { h } from "../dom.js";

/** The strip at the foot; `saved` is the element of saved answers. */
export class Tray {
  constructor({ onVersions, onMore, onKeep, onPublish, request, signal }) {
    const link = (words, run, more = {}) =>
      h("button", { class: "text-link", type: "button", ...more, on: { click: run } }, words);
    this.saved = h("div", { class: "tray-saved" });
    this.more = link("More", onMore, { aria: { expanded: "false", controls: "more-of-it" } });
    this.publish = h(
      "button",
      { class: "button primary publish", type: "button", on: { click: onPublish } },
      "Publish this ",
      h("span", { class: "wide-only" }, "answer"),
    );
    this.element = h(
      "div",
      { class: "tray", role: "group", aria: { label: "This answer" } },
      h(
        "div",
        { class: "tray-left" },
        this.saved,
        link("Versions", onVersions),
        this.more,
        link("Save for the command line", onKeep, {
          title: "The command line then uses the same request",
          class: "text-link wide-only",
        }),
      ),
      h(
        "div",
        { class: "tray-right" },
        scriptActions("request", () => ({ request: request() }), { signal }),
        this.publish,
      ),
    );
  }

  /** Update the publish button: the answer is outdated, the node exceeds the limit, or it is chosen already. */
  show({ outdated, canPublish, isChosen }) {
    this.publish.setAttribute("aria-disabled", String(outdated !== null || !canPublish));
    const tooFar = canPublish ? null : "The node suppresses more rows than you allow";
    this.publish.title = outdated ?? tooFar ?? (isChosen ? "It is chosen for the release" : "");
  }
}
