// On a phone k and the answer's sentence remain visible above the lattice.

import { h } from "../dom.js";
import { number } from "../format.js";

/** The bar below the header; wide screens have none. */
export class PhoneBar {
  constructor() {
    this.k = h("b", {});
    this.sentence = h("p", { class: "bar-sentence" });
    this.tag = h("p", { class: "bar-tag" });
    this.element = h(
      "div",
      { class: "bar-of-k", role: "group", aria: { label: "k and the answer" } },
      h("p", { class: "bar-k" }, h("i", {}, "k"), " ", this.k),
      h("div", {}, this.sentence, this.tag),
    );
  }

  tell(words, { k, tag, is, figure }) {
    this.k.textContent = k ? number(k) : "–";
    this.element.classList.toggle("long-k", this.k.textContent.length > 3);
    this.element.classList.toggle("no-answer", !is);
    this.sentence.textContent = words;
    this.tag.replaceChildren(h("b", {}, tag), ` ${figure}`);
  }

  /** Show that the answer is not that of the last move; null if it is. */
  outdate(words, { tag, figure }) {
    this.element.classList.toggle("old", words !== null);
    this.tag.replaceChildren(h("b", {}, words ?? tag), words === null ? ` ${figure}` : "");
  }
}
