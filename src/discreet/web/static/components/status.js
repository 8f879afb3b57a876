// Messages, also for screen readers.

import { errorText } from "../api.js";
import { clear, h } from "../dom.js";
import { icon } from "../icons.js";

let pending = 0;

/** Announce a text to screen readers, after the current one. */
export function announce(words) {
  const live = document.getElementById("live");
  clearTimeout(pending);
  live.textContent = "";
  pending = setTimeout(() => {
    live.textContent = words;
  }, 60);
}

/** Publish the height of the messages, for elements that make room for them. */
const heightObserver = new ResizeObserver(([area]) =>
  document.documentElement.style.setProperty("--toast-height", `${Math.ceil(area.target.offsetHeight)}px`),
);

/** Show a short message above the tray, with at most one action. Errors stay until closed; others are replaced. */
export function toast(words, { tone = "plain", action = null } = {}) {
  const area = document.getElementById("toasts");
  heightObserver.observe(area);
  const close = () => message.remove();
  const message = h(
    "div",
    { class: `toast ${tone}`, role: tone === "bad" ? "alert" : null },
    h("span", { class: "grow" }, words),
    action &&
      h(
        "button",
        {
          class: "button small",
          type: "button",
          on: {
            click: () => {
              close();
              action.run();
            },
          },
        },
        action.label,
      ),
    h(
      "button",
      { class: "button small icon-button", type: "button", aria: { label: "Close the message" }, on: { click: close } },
      icon("close"),
    ),
  );
  for (const other of [...area.querySelectorAll(".toast:not(.bad)")]) other.remove();
  if (area.children.length > 1) area.firstChild.remove();
  area.append(message);
  if (tone !== "bad") {
    announce(words);
    setTimeout(close, action ? 9000 : 5000);
  }
  return close;
}

/** Show an error; an aborted request is ignored. */
export function toastError(error) {
  if (error.name !== "AbortError") toast(errorText(error), { tone: "bad" });
}

/** Remove all messages, for example when a screen is left. */
export function clearToasts() {
  clear(document.getElementById("toasts"));
}
