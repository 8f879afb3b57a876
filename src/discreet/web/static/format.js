// Numbers as people read them. Shares never round to 0 % or 100 % unless they are.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 30162 → "30,162"; fractions keep up to three digits. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Number.isInteger(value) ? whole.format(value) : significant(value, 4);
}

/** A number rounded to a few digits that matter. */
export function significant(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** A cost as people read it: a number, or the parts of a ranked one. */
export function costText(cost) {
  return [cost]
    .flat()
    .map((part) => significant(part))
    .join(" ");
}

/** "1 row", "30,162 rows". */
export function count(value, noun, plural = `${noun}s`) {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}

/** The percentage of a part, never "0 %" or "100 %" unless it is; the blank before the sign breaks no line. */
export function share(part, all) {
  return `${percentage(part, all)}\u00a0%`;
}

function percentage(part, all) {
  if (!(all > 0) || part <= 0) return "0";
  if (part >= all) return "100";
  const found = (100 * part) / all;
  if (found < 0.01) return "<0.01";
  if (found > 99.99) return ">99.99";
  return String(Number(found.toFixed(found < 10 || found >= 99.95 ? 2 : 1)));
}

/** 1536 → "1.5 KiB". */
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  let rest = value;
  while (rest >= 1024 && place < units.length - 1) {
    rest /= 1024;
    place += 1;
  }
  return `${place === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${units[place]}`;
}

/** A long text with its middle left out. */
export function shorten(value, most = 40) {
  const letters = [...String(value)];
  if (letters.length <= most) return letters.join("");
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

/** What the library says of classes, as the screens call them: groups. */
export function grouped(text) {
  return text.replace(/\bclasses\b/g, "groups").replace(/\bclass\b/g, "group");
}

/** A limit of suppressed rows, in rows or percent: "1%" → "1 %", 12000 → "12,000". */
export function limitWords(limit) {
  const text = String(limit);
  return text.endsWith("%") ? `${text.slice(0, -1)}\u00a0%` : number(Number(text));
}

/** An ISO date as day, short month and year. */
export function day(date) {
  const options = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  const at = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? date : at.toLocaleDateString("en-GB", options);
}
