// The connection to the server: a notice while it is broken, or when the user is signed out.

import { lineState, setConnectionState } from "./api.js";
import { button } from "./components/parts.js";
import { clear, h } from "./dom.js";
import { user } from "./session.js";

const PAUSE = 1500; // milliseconds between two tries

/** Show the state of the connection in `place`; `onBack()` when the server answers the same user again. */
export function watchConnection(place, onBack) {
  let state = "open";
  let timer = 0;

  function show(next) {
    if (next === state || (state === "signed-out" && next === "gone")) return;
    const was = state;
    state = next;
    clearTimeout(timer);
    place.hidden = state === "open";
    if (state === "gone") {
      clear(
        place,
        h("span", {}, "The server does not answer. Your input is kept and sent when the server is back."),
        button("Try now", { small: true, onClick: look }),
      );
      timer = setTimeout(look, PAUSE);
    } else if (state === "signed-out") {
      clear(
        place,
        h("span", {}, "Signed out. Open the start link again: the workbench prints one when it starts."),
        h("a", { class: "button small", href: "/login" }, "Sign in"),
      );
      timer = setTimeout(look, PAUSE);
    } else if (was !== "open") onBack();
  }

  /** Check whether the server answers, and for the user of this page. */
  async function look() {
    clearTimeout(timer);
    try {
      const answer = await fetch("/api/session", { cache: "no-store" });
      const known = await user;
      if (answer.ok) {
        const { user: now } = await answer.json();
        if (known !== null && now !== known) location.reload();
        else setConnectionState("open");
        return;
      }
      if (answer.status === 401 && lineState() !== "signed-out") setConnectionState("signed-out");
    } catch {
      // The next try follows.
    }
    timer = setTimeout(look, PAUSE);
  }

  window.addEventListener("discreet:line", ({ detail }) => show(detail));
}
