// Colours of the theme as resolved tokens, for canvases.

const listeners = new Set();

/** Return the resolved colour of a token as "rgb(r, g, b)". */
export function token(name) {
  const [r, g, b] = resolved(`var(${name})`);
  return `rgb(${r}, ${g}, ${b})`;
}

/** Add a listener for changes of the theme; return a function that removes it. */
export function onThemeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notify the listeners that the colours have changed. */
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
