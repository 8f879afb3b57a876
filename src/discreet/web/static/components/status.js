// What happened, told to eyes and to screen readers.

import { errorText } from "../api.js";
import { clear, h } from "../dom.js";
import { icon } from "../icons.js";

let pending = 0;

/** Say something to a screen reader, after what it says now. */
export function announce(words) {
  const live = document.getElementById("live");
  clearTimeout(pending);
  live.textContent = "";
  pending = setTimeout(() => {
    live.textContent = words;
  }, 60);
}

/** How high the messages are, for what makes room for them. */
const told = new ResizeObserver(([area]) =>
  document.documentElement.style.setProperty("--told", `${Math.ceil(area.target.offsetHeight)}px`),
);

/** A short message over the tray, with at most one action. Bad news stays until it is closed; other news gives way. */
export function toast(words, { tone = "plain", action = null } = {}) {
  const area = document.getElementById("toasts");
  told.observe(area);
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

/** Tell what went wrong; a question that was given up is no news. */
export function toastError(error) {
  if (error.name !== "AbortError") toast(errorText(error), { tone: "bad" });
}

/** Take all messages away, as when a screen is left. */
export function clearToasts() {
  clear(document.getElementById("toasts"));
}
