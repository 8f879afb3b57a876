// The borders of intervals on the column's histogram: dragged by pointer, moved, added and removed by keys.

import { button } from "../components/parts.js";
import { announce } from "../components/status.js";
import { clear, h, svg } from "../dom.js";
import { number, share } from "../format.js";

const WIDE = 720;
const NARROW = 330;
const HEIGHT = 170;
const BASE = 138;
const SIDE = 14;
const ROOM = 34; // minimum distance of borders with figures
const BARS = 72;
const STEPS = [1, 2, 5, 10];

/**
 * The histogram of a numeric column with its borders. `typed()` returns the form's values, `onChange(breaks)` gets the
 * new bounds in the form's notation. Null if the values are not numbers.
 */
export function borders({ levels }, typed, onChange) {
  const rows = numbersOf(levels[0]);
  if (rows === null) return null;
  const wide = innerWidth < 600 ? NARROW : WIDE;
  const scale = scaleOf(rows, wide);
  const chart = h("div", { class: "borders" });
  const below = counter(rows);
  const shares = svg("g", { class: "shares", "aria-hidden": "true" });
  let shown = [];
  let bars = [];

  function draw(focused = null) {
    const given = boundsOf(typed().breaks);
    shown = given[0] ?? ofWidths(typed(), scale);
    clear(chart, picture(given.length === 0), tools());
    const handles = chart.querySelectorAll("[role=slider]");
    if (focused !== null) handles[Math.min(focused, handles.length - 1)]?.focus();
  }

  function picture(fromWidths) {
    bars = scale.bars.map(({ from, to, rows: high }) =>
      svg(
        "rect",
        {
          class: "bar",
          x: scale.x(from),
          width: Math.max(1, scale.x(to) - scale.x(from) - 1),
          y: BASE - high,
          height: high,
        },
        svg("title", {}, rangeText(from, to)),
      ),
    );
    paint(shown);
    return svg(
      "svg",
      {
        class: "plot",
        viewBox: `0 0 ${wide} ${HEIGHT}`,
        role: "group",
        "aria-label": `Rows by value, and ${shown.length} borders of intervals`,
      },
      bars,
      shares,
      svg("line", { class: "axis", x1: 0, x2: wide, y1: BASE, y2: BASE }),
      svg("text", { x: scale.x(scale.low), y: HEIGHT - 4, "text-anchor": "start" }, number(scale.low)),
      svg("text", { x: scale.x(scale.high), y: HEIGHT - 4, "text-anchor": "end" }, number(scale.high)),
      shown.map((value, place) => handle(value, place, fromWidths)),
    );
  }

  /** Colour every other interval differently, and write the share of rows above each, also during a drag. */
  function paint(values) {
    scale.bars.forEach(({ from, to }, at) => {
      const interval = values.filter((value) => value <= (from + to) / 2).length;
      bars[at].classList.toggle("other", interval % 2 === 1);
    });
    const ends = [-Infinity, ...values, Infinity];
    const at = (value) => scale.x(Math.min(scale.end, Math.max(scale.low, value)));
    clear(
      shares,
      ends.slice(1).map((to, place) => {
        const [left, right] = [at(ends[place]), at(to)];
        if (right - left < ROOM + 8) return null;
        const part = share(below(to) - below(ends[place]), below(Infinity));
        return svg("text", { x: (left + right) / 2, y: 14, "text-anchor": "middle" }, part);
      }),
    );
  }

  function rangeText(from, to) {
    return from === to || scale.step === to - from ? number(from) : `${number(from)} to ${number(to)}`;
  }

  function handle(value, place, isFaint) {
    const least = (shown[place - 1] ?? scale.low) + (place > 0 ? scale.step : 0);
    const most = (shown[place + 1] ?? scale.high) - (place < shown.length - 1 ? scale.step : 0);
    const at = scale.x(value);
    const isTight = place > 0 && at - scale.x(shown[place - 1]) < ROOM;
    const line = svg("line", { x1: at, x2: at, y1: 8, y2: BASE });
    const words = svg("text", { x: at, y: BASE + 16, "text-anchor": "middle" }, number(value));
    const grip = svg("rect", { class: "grip", x: at - 5, y: 2, width: 10, height: 18, rx: 3 });
    const reach = svg("rect", { class: "reach", x: at - 14, y: 0, width: 28, height: BASE });
    const element = svg(
      "g",
      {
        class: ["border", isFaint && "faint", isTight && "tight"].filter(Boolean).join(" "),
        role: "slider",
        tabindex: "0",
        "aria-label": `Border ${place + 1} of ${shown.length}`,
        "aria-orientation": "horizontal",
        "aria-valuemin": least,
        "aria-valuemax": most,
        "aria-valuenow": value,
        "aria-keyshortcuts": "Delete",
        on: { keydown: (event) => pressed(event, place), pointerdown: (event) => dragged(event, place) },
      },
      reach,
      line,
      grip,
      words,
    );
    const within = (wanted) => Math.min(most, Math.max(least, scale.rounded(wanted)));

    function pressed(event, at_) {
      const far = 10 * scale.step;
      const steps = {
        ArrowLeft: -scale.step,
        ArrowDown: -scale.step,
        ArrowRight: scale.step,
        ArrowUp: scale.step,
        PageDown: -far,
        PageUp: far,
      };
      if (event.key === "Delete" || event.key === "Backspace") {
        event.preventDefault();
        changed(at_, null);
        draw(Math.min(at_, shown.length - 2));
        announce(`Border at ${number(value)} removed`);
        return;
      }
      const ends = { Home: least, End: most };
      if (!(event.key in ends) && !(event.key in steps)) return;
      const next = event.key in ends ? ends[event.key] : within(value + steps[event.key]);
      event.preventDefault();
      changed(at_, next);
      draw(at_);
    }

    function dragged(event, at_) {
      if (event.button !== 0) return;
      event.preventDefault();
      element.focus();
      element.setPointerCapture(event.pointerId);
      let wanted = value;
      const move = (moved) => {
        const box = element.ownerSVGElement.getBoundingClientRect();
        wanted = within(scale.value(((moved.clientX - box.left) / box.width) * wide));
        const x = scale.x(wanted);
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
        grip.setAttribute("x", x - 5);
        words.setAttribute("x", x);
        words.textContent = number(wanted);
        paint(shown.map((each, at) => (at === at_ ? wanted : each)));
      };
      const stop = () => {
        element.removeEventListener("pointermove", move);
        if (wanted !== value) changed(at_, wanted);
        draw(at_);
      };
      element.addEventListener("pointermove", move);
      element.addEventListener("pointerup", stop, { once: true });
      element.addEventListener("pointercancel", stop, { once: true });
    }
    return element;
  }

  /** Move a border, or remove it (null), at every level that has it. */
  function changed(place, to) {
    const from = shown[place];
    const all = boundsOf(typed().breaks);
    const before = all.length === 0 ? [shown] : all;
    const after = before.map((level) =>
      level.map((each) => (each === from ? to : each)).filter((each) => each !== null),
    );
    onChange(written(after));
  }

  function add() {
    const ends = [scale.low, ...shown, scale.high];
    let best = 0;
    for (let place = 1; place < ends.length - 1; place += 1)
      if (ends[place + 1] - ends[place] > ends[best + 1] - ends[best]) best = place;
    const between = scale.rounded((ends[best] + ends[best + 1]) / 2);
    if (ends.includes(between)) return;
    const all = boundsOf(typed().breaks);
    const finest = [...shown, between].sort((one, other) => one - other);
    onChange(written([finest, ...all.slice(1)]));
    draw(finest.indexOf(between));
  }

  function tools() {
    return h(
      "div",
      { class: "row" },
      button("Add a border", { small: true, icon: "plus", onClick: add }),
      h(
        "span",
        { class: "small muted" },
        "Drag a border, or move it with the arrow keys; Delete removes it, Ctrl+Z undoes. Above: the share " +
          "of rows. A value equal to a border belongs to the interval on its right.",
      ),
    );
  }
  /** Draw the current values of the form; a focused border keeps the focus. */
  chart.redraw = () => {
    const focused = [...chart.querySelectorAll("[role=slider]")].indexOf(document.activeElement);
    draw(focused < 0 ? null : focused);
  };
  draw();
  return chart;
}

/** Return a function that counts the rows below a value; it expects the values in ascending order. */
function counter(rows) {
  let sum = 0;
  const sums = rows.map(([, many]) => (sum += many));
  return (value) => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle][0] < value) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : sums[low - 1];
  };
}

/** Parse the bounds of each level from a text such as `30, 45; 45`; none if the text is not valid. */
function boundsOf(text) {
  const found = String(text ?? "")
    .split(";")
    .map((level) =>
      level
        .split(/[\s,]+/)
        .filter(Boolean)
        .map(Number),
    );
  return found.every((level) => level.length > 0 && level.every(Number.isFinite)) ? found : [];
}

function written(levels) {
  return levels
    .filter((level) => level.length > 0)
    .map((level) => level.join(", "))
    .join("; ");
}

/** Return initial borders: those of the widest intervals. */
function ofWidths({ widths, anchor }, scale) {
  const all = String(widths ?? "")
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);
  const wide = all.at(-1);
  if (!all.every(Number.isFinite) || !(wide > 0)) return [];
  const start = Number(anchor) || 0;
  const found = [];
  for (let at = start + Math.ceil((scale.low - start) / wide) * wide; at <= scale.high; at += wide)
    if (at > scale.low) found.push(at);
  return found.length > 40 ? [] : found;
}

function numbersOf(level) {
  if (!level) return null;
  const found = level.labels
    .map((label, place) => [label.trim() === "" ? NaN : Number(label), level.rows[place]])
    .filter(([value]) => Number.isFinite(value));
  return found.length < 3 || found.length < 0.9 * level.labels.length
    ? null
    : found.sort(([one], [other]) => one - other);
}

function scaleOf(rows, wide) {
  const low = rows[0][0];
  const high = rows.at(-1)[0];
  const isWhole = rows.every(([value]) => Number.isInteger(value));
  const span = high - low;
  const step = isWhole && span <= 400 ? 1 : niceStep(span / 200);
  const width = isWhole ? Math.max(1, Math.ceil((span + 1) / BARS)) : span / BARS;
  const sums = new Map();
  for (const [value, many] of rows) {
    const bin = Math.min(BARS, Math.floor((value - low) / width));
    sums.set(bin, (sums.get(bin) ?? 0) + many);
  }
  const most = Math.max(1, ...sums.values());
  const end = low + width * (Math.max(...sums.keys()) + 1);
  const x = (value) => SIDE + ((value - low) / (end - low)) * (wide - 2 * SIDE);
  return {
    low,
    high,
    end,
    step,
    x,
    value: (at) => low + ((at - SIDE) / (wide - 2 * SIDE)) * (end - low),
    rounded: (value) => Number((Math.round(value / step) * step).toPrecision(12)),
    bars: [...sums].map(([bin, many]) => ({
      from: low + bin * width,
      to: low + (bin + 1) * width,
      rows: ((BASE - 26) * many) / most,
    })),
  };
}

function niceStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return STEPS.map((each) => each * power).find((each) => each >= wanted * 0.999);
}
