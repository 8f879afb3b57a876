// The line to the server: what is said while it is broken, and where nobody is signed in any more.

import { button } from "./components/parts.js";
import { clear, h } from "./dom.js";

const PAUSE = 1500; // milliseconds between two tries

/** Tell in `place` how the line is; `onBack()` when the server answers again. */
export function watchConnection(place, onBack) {
  let state = "open";
  let timer = 0;

  function show(next) {
    if (next === state || (state === "signed-out" && next !== "open")) return;
    state = next;
    clearTimeout(timer);
    place.hidden = state === "open";
    if (state === "gone") {
      clear(
        place,
        h("span", {}, "The server does not answer. What you typed stays here, and is asked when it is back."),
        button("Try now", { small: true, onClick: look }),
      );
      timer = setTimeout(look, PAUSE);
    } else if (state === "signed-out") {
      clear(
        place,
        h("span", {}, "Signed out. Open the start link again: the workbench prints one when it starts."),
        h("a", { class: "button small", href: "/login" }, "Sign in"),
      );
    }
  }

  async function look() {
    clearTimeout(timer);
    try {
      const answer = await fetch("/api/session", { cache: "no-store" });
      if (answer.status === 401) show("signed-out");
      else if (answer.ok) {
        show("open");
        onBack();
      }
    } catch {
      timer = setTimeout(look, PAUSE);
    }
  }

  window.addEventListener("discreet:line", ({ detail }) => {
    if (detail !== "open" || state !== "signed-out") show(detail);
  });
}
