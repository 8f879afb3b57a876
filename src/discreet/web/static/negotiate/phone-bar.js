// On a phone k and the answer's sentence stay in sight above the lattice, whatever is scrolled.

import { button } from "../components/parts.js";
import { h } from "../dom.js";

const NARROW = "(max-width: 820px)";

/** Takes the control of k out of the request on a narrow screen, and gives it back on a wide one. */
export class PhoneBar {
  constructor(k, signal) {
    this.sentence = h("p", { class: "bar-sentence" });
    this.element = h("div", { class: "bar-of-k", role: "group", aria: { label: "k and the answer" } }, this.sentence);
    const step = (by, sign, words) => {
      const found = button(sign, { small: true, onClick: () => k.step(by) });
      found.setAttribute("aria-label", words);
      found.classList.add("bar-step");
      return found;
    };
    const steps = [step(-1, "−", "k one step less"), step(1, "+", "k one step more")];
    const home = document.createComment("k");
    k.element.before(home);
    const narrow = window.matchMedia(NARROW);
    const place = () => {
      if (narrow.matches) {
        this.element.append(k.element);
        k.field.before(steps[0]);
        k.field.after(steps[1]);
      } else {
        for (const each of steps) each.remove();
        home.after(k.element);
      }
    };
    narrow.addEventListener("change", place, { signal });
    place();
  }

  tell(words) {
    this.sentence.textContent = words;
  }
}
