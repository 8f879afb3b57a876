// The shell: steps in the publisher's order, the summary, the theme, and one screen at a time.

import { ApiError, errorText } from "./api.js";
import { themeChanged } from "./colour.js";
import { announce, clearToasts, toast } from "./components/status.js";
import { button, linkButton, notice, panel, screenHead } from "./components/parts.js";
import { clear, h, visuallyHidden } from "./dom.js";
import { count, number } from "./format.js";
import { icon } from "./icons.js";
import { state } from "./state.js";

const SCREENS = [
  ["load", "Load"],
  ["columns", "Columns"],
  ["hierarchies", "Hierarchies"],
  ["negotiate", "Negotiate"],
  ["analyst", "Analyst"],
  ["attacker", "Attacker"],
  ["publish", "Publish"],
];
const STATES = { done: "done", attention: "needs attention", todo: "not begun" };
const main = document.getElementById("main");
let leave = null;
let visit = null;
let shown = null;

function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name] = path.split("/");
  return { name: SCREENS.some(([each]) => each === name) ? name : null, params: new URLSearchParams(query) };
}

function go(path) {
  location.hash = `#/${path}`;
}

async function route() {
  const { name, params } = place();
  if (location.hash === "#main") {
    main.focus();
    return;
  }
  if (name === null) {
    location.replace(`#/${firstOpenStep()}`);
    return;
  }
  visit?.abort();
  try {
    leave?.();
  } catch (error) {
    console.warn(error);
  }
  leave = null;
  visit = new AbortController();
  const { signal } = visit;
  const first = shown === null;
  const changed = shown !== name;
  shown = name;
  const title = SCREENS.find(([each]) => each === name)[1];
  document.title = `${title} · discreet workbench`;
  drawSteps();
  clearToasts();
  const root = h("div", { class: "screen", dataset: { screen: name } });
  clear(main, root);
  main.setAttribute("aria-busy", "true");
  try {
    const screen = await import(`./screens/${name}.js`);
    if (signal.aborted) return;
    const finish = await screen.show(root, { signal, go, params, announce, toast, state });
    if (signal.aborted) finish?.();
    else leave = finish ?? null;
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    clear(root, screenHead({ title }), failed(error));
    if (!(error instanceof ApiError)) console.warn(error);
  }
  main.removeAttribute("aria-busy");
  if (!first && changed) {
    window.scrollTo(0, 0);
    const heading = root.querySelector("h1");
    if (heading) {
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    }
  }
  document.body.dataset.ready = name;
}

function failed(error) {
  const words = error instanceof ApiError ? errorText(error) : "This screen could not be shown.";
  return panel(
    { label: "Error" },
    notice(words, "bad"),
    h("div", { class: "row" }, button("Try again", { onClick: route }), linkButton("Go to Load", "#/load")),
  );
}

function firstOpenStep() {
  const steps = state.summary?.steps ?? [];
  return (steps.find((step) => step.state !== "done") ?? steps.at(-1))?.name ?? "load";
}

function drawSteps() {
  const steps = new Map((state.summary?.steps ?? []).map((step) => [step.name, step]));
  clear(
    document.getElementById("steps"),
    SCREENS.map(([name, title], i) => {
      const step = steps.get(name) ?? { state: "todo", note: "" };
      const current = name === shown;
      const mark =
        step.state === "done" && !current
          ? icon("check")
          : step.state === "attention" && !current
            ? "!"
            : String(i + 1);
      return h(
        "li",
        {},
        h(
          "a",
          {
            href: `#/${name}`,
            title: step.note || null,
            dataset: { state: step.state },
            aria: { current: current ? "step" : null },
          },
          h("span", { class: "mark", aria: { hidden: true } }, mark),
          h(
            "span",
            { class: "label" },
            visuallyHidden(`Step ${i + 1}: `),
            title,
            visuallyHidden(`, ${STATES[step.state]}`),
          ),
        ),
      );
    }),
  );
}

function drawSummary() {
  const area = document.getElementById("summary");
  const { source, rows, columns, quasi_identifiers: quasi = [], sensitive = [], nodes, releases } = state.summary ?? {};
  if (!source) {
    clear(area, h("span", {}, "No table yet"));
    return;
  }
  const fact = (value, noun, plural) =>
    h("span", {}, h("b", {}, number(value)), ` ${count(value, noun, plural).replace(/^\S+ /, "")}`);
  clear(
    area,
    h("span", { class: "name" }, source.name),
    rows !== null && fact(rows, "row"),
    columns > 0 && fact(columns, "column"),
    quasi.length > 0 && fact(quasi.length, "quasi-identifier"),
    sensitive.length > 0 && fact(sensitive.length, "sensitive", "sensitive"),
    nodes !== null && nodes > 1 && fact(nodes, "node"),
    releases > 0 && fact(releases, "release"),
  );
}

const THEMES = { auto: ["as the system", "light"], light: ["light", "dark"], dark: ["dark", "auto"] };
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

function drawTheme() {
  const theme = document.documentElement.dataset.theme;
  const control = document.getElementById("theme");
  const words = `Theme: ${THEMES[theme][0]}. Change to ${THEMES[THEMES[theme][1]][0]}.`;
  clear(control, icon(ICONS[theme]));
  control.setAttribute("aria-label", words);
  control.title = words;
}

function nextTheme() {
  const theme = THEMES[document.documentElement.dataset.theme][1];
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("discreet.theme", theme);
  } catch {
    // Then it holds for this visit.
  }
  drawTheme();
  themeChanged();
  announce(`Theme: ${THEMES[theme][0]}`);
}

state.subscribe(() => {
  drawSteps();
  drawSummary();
});
document.getElementById("theme").addEventListener("click", nextTheme);
document.querySelector(".skip-link").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
  main.scrollIntoView();
});
window.addEventListener("hashchange", route);
new ResizeObserver(() => {
  const frame = document.querySelector(".frame");
  const sticky =
    frame.getBoundingClientRect().height || document.getElementById("stepbar").getBoundingClientRect().height;
  document.documentElement.style.setProperty("--header-height", `${Math.round(sticky)}px`);
}).observe(document.getElementById("stepbar"));
drawTheme();
drawSteps();
drawSummary();
state
  .refresh()
  .catch((error) => toast(errorText(error), { tone: "bad" }))
  .finally(route);
