// The answer as a sentence above the lattice, and the figures below it.

import { clear, h } from "../dom.js";
import { number, roughShare, share } from "../format.js";
import { sentenceOf, tagOf } from "./words.js";

/** The top left corner of the stage. */
export class Verdict {
  constructor(facts) {
    this.facts = facts;
    this.tag = h("p", { class: "tag" });
    this.sentence = h("p", { class: "sentence" });
    this.notes = h("div", { class: "verdict-notes" });
    this.element = h(
      "div",
      { class: "verdict answer-words", role: "status", aria: { live: "polite" } },
      this.tag,
      this.sentence,
      this.notes,
    );
  }

  show(answer) {
    const { tag, why, is } = tagOf(answer);
    clear(
      this.tag,
      h("span", { class: is ? "square" : "square none", aria: { hidden: true } }),
      h("b", {}, tag),
      why && h("span", { class: "why" }, ` ${why}`),
    );
    this.tag.classList.toggle("none", !is);
    const words = sentenceOf(answer, this.facts);
    this.sentence.textContent = words;
    this.sentence.title = answer.requirement;
    this.sentence.classList.toggle("long", words.length > 105);
    const notes = answer.sentences.slice(1).map(({ text }) => text);
    const key = notes.join(" ");
    if (key !== this.noted) clear(this.notes, notes.length > 0 && h("p", { title: key }, key));
    this.noted = key;
    this.answer = answer;
    this.element.classList.remove("old");
  }

  /** Keep the last good answer visible and mark it as outdated; null removes the mark. */
  outdate(words) {
    this.element.classList.toggle("old", words !== null);
    if (words === null) this.show(this.answer);
    else clear(this.tag, h("span", { class: "square none", aria: { hidden: true } }), h("b", {}, words));
  }
}

/** The bottom left corner: suppression, groups, risk and detail of the node. */
export class Figures {
  constructor(facts, { onWho, onBack }) {
    const line = (words) => {
      const value = h("dd", {});
      return { value, label: h("dt", {}, words), row: null };
    };
    this.facts = facts;
    this.lines = {
      out: line(""),
      groups: line(""),
      risk: line("highest re-identification risk"),
      kept: line("of the detail is kept"),
    };
    this.who = h("button", { class: "text-link", type: "button", on: { click: onWho } });
    this.back = h("button", { class: "text-link", type: "button", on: { click: onBack } }, "Back to the answer");
    this.title = h("p", { class: "looked", hidden: true }, h("b", {}, "The selected node "), this.back);
    this.element = h(
      "div",
      { class: "figures", role: "group", aria: { label: "Figures" } },
      this.title,
      h(
        "dl",
        {},
        Object.values(this.lines).map((each) => (each.row = h("div", {}, each.label, each.value))),
      ),
      this.who,
    );
  }

  show({ node, limit, rows, effects }) {
    const { out, groups, risk, kept } = this.lines;
    const put = (line, value, words) => {
      line.value.textContent = value;
      if (words) line.label.textContent = words;
    };
    put(out, share(node.suppressed, rows), `suppressed, of ${share(limit, rows)} allowed`);
    const smallest = node.smallest === null ? "–" : number(node.smallest);
    groups.label.dataset.short = "groups";
    risk.label.dataset.short = "highest risk";
    kept.label.dataset.short = "of detail";
    put(groups, node.kept === null ? "–" : number(node.kept), `groups, the smallest has ${smallest}`);
    put(risk, node.smallest ? `1 in ${number(node.smallest)}` : "–");
    // Effects are sent only if they differ from the last ones.
    if (effects) put(kept, roughShare(effects.detail));
    this.who.hidden = node.suppressed === 0;
    this.who.textContent =
      node.suppressed === 1 ? "Show the suppressed row" : `Show the ${number(node.suppressed)} suppressed rows`;
    this.title.hidden = !node.asked;
  }
}
