// Colours of the theme for those who draw: resolved tokens and the scale of suppression.

const STOPS = 9;
let tables = new Map();
const listeners = new Set();

/** The resolved colour of a token, as "rgb(r, g, b)". */
export function token(name) {
  const [r, g, b] = resolved(`var(${name})`);
  return `rgb(${r}, ${g}, ${b})`;
}

/** The colour of a share of suppressed rows, 0 to 1. */
export function suppressionColour(share) {
  const table = suppressionTable(256);
  const place = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  return `rgb(${table[place]}, ${table[place + 1]}, ${table[place + 2]})`;
}

/** `size` colours from 0 % to 100 % as red, green, blue triples; the theme's, kept until it changes. */
export function suppressionTable(size = 256) {
  if (tables.has(size)) return tables.get(size);
  const stops = Array.from({ length: STOPS }, (_, place) => resolved(`var(--suppression-${place})`));
  const table = new Uint8ClampedArray(3 * size);
  for (let place = 0; place < size; place += 1) {
    const at = (place / (size - 1)) * (STOPS - 1);
    const low = Math.min(STOPS - 2, Math.floor(at));
    for (let part = 0; part < 3; part += 1) {
      table[3 * place + part] = stops[low][part] + (at - low) * (stops[low + 1][part] - stops[low][part]);
    }
  }
  tables.set(size, table);
  return table;
}

/** Hear of a change of theme; returns how to stop. */
export function onThemeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Forget resolved colours and tell those who draw. */
export function themeChanged() {
  tables = new Map();
  for (const listener of [...listeners]) listener();
}

function resolved(colour) {
  const probe = document.createElement("span");
  probe.style.color = colour;
  probe.hidden = true;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
