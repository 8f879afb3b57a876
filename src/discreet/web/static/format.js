// Formats numbers. `share` formats a part of a whole, `ratio` any other quotient.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 30162 → "30,162"; fractions are rounded to four significant digits. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Number.isInteger(value) ? whole.format(value) : significant(value, 4);
}

/** Round a number to significant digits. */
export function significant(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** Format a cost: a number, or the parts of a ranked one. */
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

const SIGN = "\u00a0%"; // no-break space before the sign
const SLACK = 1e-9; // tolerance for sums of floating-point shares

/**
 * Format a part of a whole in percent, never "0 %" or "100 %" unless it is. A value outside 0 to 1 is formatted as a
 * ratio, not cut to 0 or 100 %.
 */
export function share(part, all = 1) {
  if (!(all > 0) || part === 0) return `0${SIGN}`;
  const found = part / all;
  if (found < -SLACK || found > 1 + SLACK) return ratio(found);
  return percentage(100 * found, (percent) => (percent < 10 || percent >= 99.95 ? 2 : 1));
}

/** Format a share in whole percent: "38 %", "<1 %", ">99 %". */
export function roughShare(part, all = 1) {
  if (!(all > 0) || part === 0) return `0${SIGN}`;
  const found = part / all;
  return found < -SLACK || found > 1 + SLACK ? ratio(found) : percentage(100 * found, () => 0);
}

function percentage(percent, digitsOf) {
  if (percent <= 0) return `0${SIGN}`;
  if (percent >= 100) return `100${SIGN}`;
  const digits = digitsOf(percent);
  const least = 10 ** -digitsOf(0);
  const most = 100 - 10 ** -digitsOf(100);
  if (percent < least) return `<${least}${SIGN}`;
  if (percent > most) return `>${most}${SIGN}`;
  return `${Number(percent.toFixed(digits))}${SIGN}`;
}

/** Format a quotient in percent, which may be negative or exceed 100, such as an error of 843 % or a gain of -12 %. */
export function ratio(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "-infinite";
  const percent = Math.abs(100 * value);
  const sign = value < 0 ? "-" : "";
  if (percent === 0) return `0${SIGN}`;
  if (percent < 0.01) return `${sign}<0.01${SIGN}`;
  const digits = percent < 10 ? 2 : percent < 100 ? 1 : 0;
  return `${sign}${new Intl.NumberFormat("en", { maximumFractionDigits: digits }).format(percent)}${SIGN}`;
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

/** Shorten a long text in its middle. */
export function shorten(value, most = 40) {
  const letters = [...String(value)];
  if (letters.length <= most) return letters.join("");
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

/** Replace the library's term "class" by the screens' term "group". */
export function grouped(text) {
  return text.replace(/\bclasses\b/g, "groups").replace(/\bclass\b/g, "group");
}

/** Format an ISO date as day, short month and year. */
export function day(date) {
  const options = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  const at = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? date : at.toLocaleDateString("en-GB", options);
}
