// Elements from values. Text is always a text node, so data are never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set([
  "value",
  "checked",
  "disabled",
  "selected",
  "hidden",
  "open",
  "indeterminate",
  "readOnly",
  "required",
  "multiple",
]);
let last = 0;

/** Create an HTML element. Attributes: class, dataset, style (an object), on (listeners), aria (an object), others. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Create an SVG element like `h` for HTML. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function text(value) {
  return document.createTextNode(String(value));
}

/** Replace all children of a node. */
export function clear(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

/** Return an id that no other element has. */
export function uid(prefix = "id") {
  last += 1;
  return `${prefix}-${last}`;
}

/** Text only for screen readers. */
export function visuallyHidden(words) {
  return h("span", { class: "visually-hidden" }, words);
}

function fill(node, attributes, children) {
  let value;
  for (const [name, given] of Object.entries(attributes ?? {})) {
    if (given === null || given === undefined || given === false) {
      if (PROPERTIES.has(name) && given === false) node[name] = false;
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(given)) node.addEventListener(event, listener);
    } else if (name === "dataset") {
      for (const [key, entry] of Object.entries(given))
        if (entry !== null && entry !== undefined) node.dataset[key] = entry;
    } else if (name === "style") {
      for (const [key, entry] of Object.entries(given))
        node.style.setProperty(
          key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`),
          String(entry),
        );
    } else if (name === "aria") {
      for (const [key, entry] of Object.entries(given))
        if (entry !== null && entry !== undefined) node.setAttribute(`aria-${key}`, String(entry));
    } else if (name === "value") {
      value = given;
    } else if (PROPERTIES.has(name) && name in node) {
      node[name] = given;
    } else {
      node.setAttribute(name === "className" ? "class" : name, given === true ? "" : String(given));
    }
  }
  node.append(...nodes(children));
  if (value !== undefined) {
    if ("value" in node) node.value = value; // after the options of a select exist
    else node.setAttribute("value", String(value));
  }
  return node;
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== true)
    .map((child) => (child instanceof Node ? child : text(child)));
}
