// Offers: more utility for a small price, or relaxations if there is no answer.

import { query } from "../api.js";
import { clear, h } from "../dom.js";
import { number } from "../format.js";
import { latest } from "../turns.js";

/** The top right corner; `onApply(request)`, `onPoint(place)`, `onShow(offers)` draws their numbers. */
export class Offers {
  constructor({ signal, onApply, onPoint, onShow }) {
    Object.assign(this, { signal, onApply, onPoint, onShow });
    this.turn = latest();
    this.title = h("h2", {}, "Nearby requests");
    this.sheet = h(
      "button",
      {
        class: "text-link sheet-button",
        type: "button",
        aria: { expanded: "false" },
        on: { click: () => this.open() },
      },
      "Within reach",
    );
    this.list = h("ol", {});
    this.element = h(
      "div",
      { class: "offers", role: "group", aria: { label: "Nearby requests" } },
      this.title,
      this.sheet,
      this.list,
    );
  }

  /** Show the relaxations of an answer at once; other offers are removed until moves rest. */
  show(answer) {
    this.answer = answer;
    const key = JSON.stringify(answer.request);
    if (answer.outcome === "exact") {
      if (key === this.of) return;
      this.of = null;
      this.turn();
      this.element.classList.add("stale");
      this.onShow([]);
      return;
    }
    if (key === this.of) return;
    this.of = key;
    this.turn(); // a late reply about an earlier answer must not replace these
    const places = new Map(answer.answers.map((each) => [each.relaxed, each.place ?? -1]));
    this.draw(
      answer.cards.map((card) => ({
        ...offerTexts(card, answer),
        place: places.get(card.relaxed) ?? -1,
        request: card.request,
        relaxed: card.relaxed,
      })),
      "Relaxations",
    );
  }

  /** After moves rest: request the offers near an exact answer. */
  async rest() {
    const { answer } = this;
    const key = JSON.stringify(answer.request);
    if (answer.outcome !== "exact" || this.of === key) return;
    const isLast = this.turn();
    const { offers } = await query("/api/negotiate/offers", { request: answer.request }, { signal: this.signal });
    if (!isLast()) return;
    this.of = key;
    this.draw(offers, "Nearby requests");
  }

  /** Open the offers, a sheet at the foot of a phone's screen. */
  open(is = !this.element.classList.contains("open")) {
    this.element.classList.toggle("open", is);
    this.sheet.setAttribute("aria-expanded", String(is));
  }

  draw(offers, title) {
    this.sheet.textContent = title === "Relaxations" ? title : `${offers.length} nearby requests`;
    this.element.classList.remove("stale");
    this.title.textContent = title;
    const own = this.answer.outcome === "exact" ? this.answer.answers[0].place : -2;
    let last = 0;
    const numbered = offers.map((offer) => ({ ...offer, number: offer.place === own ? null : (last += 1) }));
    clear(
      this.list,
      numbered.map((offer) => this.line(offer)),
      numbered.length === 0 && h("li", { class: "nothing" }, "No nearby request gains anything."),
    );
    this.onShow(numbered.filter((offer) => offer.number !== null && offer.place >= 0));
  }

  line({ gain, price, place, request, number: mark, relaxed }) {
    return h(
      "li",
      {
        class: relaxed ? "offer relaxation" : "offer",
        dataset: relaxed ? { relaxed } : {},
        on: { pointerenter: () => this.onPoint(place), pointerleave: () => this.onPoint(-1) },
      },
      h("span", { class: mark === null ? "number own" : "number", aria: { hidden: true } }, mark ?? ""),
      h(
        "button",
        {
          type: "button",
          aria: { label: `Apply: ${gain}. ${price}` },
          on: {
            click: () => {
              this.open(false);
              this.onApply(request);
            },
            focus: () => this.onPoint(place),
            blur: () => this.onPoint(-1),
          },
        },
        h("b", {}, gain),
      ),
      h("span", { class: "price", title: price }, price),
    );
  }
}

/** Return a relaxation as gain and price, in the screen's words. */
function offerTexts({ relaxed, title, change }, { answers, limit }) {
  const price = change.replace(/\.$/, "");
  if (relaxed === "height") return { gain: "Generalize further", price: price.replace(/^Allow /, "") };
  if (relaxed !== "max_suppressed") return { gain: title, price };
  const { suppressed } = answers.find((each) => each.relaxed === relaxed);
  return { gain: `Allow ${number(suppressed)} suppressed`, price: `instead of ${number(limit)}` };
}
