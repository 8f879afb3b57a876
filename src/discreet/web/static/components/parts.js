// The small elements of screens.

import { h } from "../dom.js";
import { icon as drawn } from "../icons.js";

/** The head of a screen: its h1, an introductory sentence, actions. */
export function screenHead({ title, lead = null, actions = [] }) {
  return h(
    "header",
    { class: "screen-head" },
    h("div", { class: "words" }, h("h1", {}, title), lead && h("p", { class: "lead" }, lead)),
    actions.length > 0 && h("div", { class: "actions" }, actions),
  );
}

/** A screen in the layout of Negotiate: the inputs in the left margin, the results next to them. */
export function composition(query, ...answer) {
  return h(
    "div",
    { class: "composed" },
    h("div", { class: "query-side stack" }, query),
    h("div", { class: "result-side stack" }, answer),
  );
}

/** An answer as a sentence with its figures. */
export function sentence(words, { tone = "good" } = {}) {
  return h("p", { class: `sentence headline ${tone}`, role: tone === "bad" ? "alert" : null }, words);
}

/** A titled section. */
export function panel(
  { title = null, actions = [], note = null, level = 2, flush = false, label = null } = {},
  ...children
) {
  return h(
    "section",
    { class: "panel", aria: { label: label ?? (title === null ? null : title) } },
    title !== null &&
      h(
        "div",
        { class: "panel-head" },
        h("div", { class: "titles" }, h(`h${level}`, {}, title), note && h("p", { class: "note" }, note)),
        actions.length > 0 && h("div", { class: "row" }, actions),
      ),
    h("div", { class: flush ? "panel-body flush" : "panel-body" }, children),
  );
}

/** Figures with their names. */
export function facts(list) {
  return h(
    "dl",
    { class: "facts" },
    list
      .filter(Boolean)
      .map(({ label, value, tone }) => h("div", {}, h("dt", {}, label), h("dd", { class: tone ?? "" }, value))),
  );
}

/** A highlighted paragraph: plain, good, warning or bad. */
export function notice(words, tone = "plain") {
  return h(
    "div",
    { class: `notice ${tone}`, role: tone === "bad" ? "alert" : null },
    h("div", { class: "grow" }, words),
  );
}

/** A wide element that scrolls sideways by pointer and keys; `label` describes its content. */
export function wide(label, content, { kind = "whole-words" } = {}) {
  return h("div", { class: `scroll-x ${kind}`.trim(), tabindex: "0", role: "region", aria: { label } }, content);
}

/** The initial state of an empty screen, with its next actions. */
export function empty({ title, text, actions = [] }) {
  return h(
    "div",
    { class: "empty" },
    h("h2", {}, title),
    h("p", {}, text),
    actions.length > 0 && h("div", { class: "row" }, actions),
  );
}

/** A button; `tone` is primary, quiet, danger or plain. */
export function button(
  label,
  { tone = "", onClick = null, icon = null, small = false, type = "button", disabled = false, title = null } = {},
) {
  return h(
    "button",
    {
      class: `button ${tone} ${small ? "small" : ""}`.trim(),
      type,
      disabled,
      title,
      on: onClick ? { click: onClick } : {},
    },
    icon && drawn(icon),
    label,
  );
}

/** A link that looks like a button. */
export function linkButton(label, href, { tone = "" } = {}) {
  return h("a", { class: `button ${tone}`.trim(), href }, label);
}

/** A small label: good, warning, bad, accent or plain. */
export function badge(words, tone = "plain") {
  return h("span", { class: `badge ${tone}` }, words);
}

/** The badge of a role. */
export function role(name) {
  return badge(name, name);
}

/** A thin bar for a share between 0 and 1. */
export function meter(share, { label, tone = "" } = {}) {
  const width = `${Math.max(share > 0 ? 2 : 0, Math.min(100, 100 * share))}%`;
  return h("span", { class: `meter ${tone}`, role: "img", aria: { label } }, h("span", { style: { width } }));
}
