// The histogram of a node's class sizes (and of distinct sensitive values), as a table whose rows contain the bars.

import { h } from "../dom.js";
import { number, share } from "../format.js";

/** Bars for bins `{first, last, kept, suppressed, classes}`; `.show(bins, words)` updates them. */
export class ClassBars {
  constructor() {
    this.caption = h("caption", {});
    this.head = h("th", { scope: "col" });
    this.body = h("tbody", {});
    this.lines = [];
    this.element = h(
      "table",
      { class: "class-bars" },
      this.caption,
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          this.head,
          h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "rows, drawn")),
          h("th", { scope: "col", class: "number" }, "rows"),
        ),
      ),
      this.body,
    );
  }

  show(bins, { caption, unit }) {
    this.caption.textContent = caption;
    this.head.textContent = unit;
    const most = Math.max(1, ...bins.map((bin) => bin.kept + bin.suppressed));
    while (this.lines.length < bins.length) this.lines.push(this.line());
    this.lines.forEach((line, place) => {
      const bin = bins[place];
      if (line.row.hidden !== !bin) line.row.hidden = !bin;
      if (!bin) return;
      const total = bin.kept + bin.suppressed;
      line.label.textContent = bin.first === bin.last ? number(bin.first) : `${number(bin.first)}–${number(bin.last)}`;
      line.kept.style.width = width(bin.kept, most);
      line.suppressed.style.width = width(bin.suppressed, most);
      line.number.textContent = number(total);
      line.row.title =
        `${number(bin.kept)} published, ${number(bin.suppressed)} ` +
        `suppressed${bin.classes === null ? "" : `; ${number(bin.classes)} classes`}`;
      line.words.textContent = total ? `${share(bin.suppressed, total)} suppressed` : "";
    });
    if (this.body.children.length !== this.lines.length)
      this.body.replaceChildren(...this.lines.map((line) => line.row));
  }

  line() {
    const line = {
      label: h("th", { scope: "row" }),
      kept: h("span", { class: "kept" }),
      suppressed: h("span", { class: "suppressed" }),
      words: h("span", { class: "visually-hidden" }),
      number: h("td", { class: "number" }),
    };
    line.row = h(
      "tr",
      {},
      line.label,
      h(
        "td",
        { class: "bins" },
        h("span", { class: "bars", aria: { hidden: true } }, line.kept, line.suppressed),
        line.words,
      ),
      line.number,
    );
    return line;
  }
}

function width(part, most) {
  return part > 0 ? `max(2px, ${((100 * part) / most).toFixed(2)}%)` : "0";
}
