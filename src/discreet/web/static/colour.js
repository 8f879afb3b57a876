// Colours of the theme for those who draw, as resolved tokens.

const listeners = new Set();

/** The resolved colour of a token, as "rgb(r, g, b)". */
export function token(name) {
  const [r, g, b] = resolved(`var(${name})`);
  return `rgb(${r}, ${g}, ${b})`;
}

/** Hear of a change of theme; returns how to stop. */
export function onThemeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tell those who draw that the colours are others. */
export function themeChanged() {
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
