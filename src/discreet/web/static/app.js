// The shell: steps in the publisher's order, the summary, the theme, and one screen at a time.

import { ApiError, errorText, get } from "./api.js";
import { themeChanged } from "./colour.js";
import { announce, clearToasts, toast } from "./components/status.js";
import { button, linkButton, notice, panel, screenHead } from "./components/parts.js";
import { watchConnection } from "./connection.js";
import { clear, h, visuallyHidden } from "./dom.js";
import { count, number } from "./format.js";
import { icon } from "./icons.js";
import { keepFocus } from "./focus.js";
import { backInPlace, keepPlace, place, watchScroll } from "./place.js";
import { state } from "./state.js";
import { versionControls } from "./versions.js";

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
let visit = null;
let shown = null;
let current = {}; // what the screen that is shown can do by itself: leave, settle, travelled

function go(path) {
  location.hash = `#/${path}`;
}

async function route() {
  const found = place();
  const { params } = found;
  const name = SCREENS.some(([each]) => each === found.name) ? found.name : null;
  if (location.hash === "#main") {
    main.focus();
    return;
  }
  if (name === null) {
    location.replace(`#/${firstOpenStep()}`);
    return;
  }
  scrolled();
  visit?.abort();
  try {
    current.leave?.();
  } catch (error) {
    console.warn(error);
  }
  current = {};
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
  delete main.dataset.failed;
  try {
    const screen = await import(`./screens/${name}.js`);
    if (signal.aborted) return;
    const able = (await screen.show(root, { signal, go, params, announce, toast, state, keepPlace })) ?? {};
    if (signal.aborted) able.leave?.();
    else current = able;
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    clear(root, screenHead({ title }), failed(error));
    if (!(error instanceof ApiError)) {
      console.warn(error);
      get("/api/session").catch(() => {}); // whether the server is gone
    }
  }
  main.removeAttribute("aria-busy");
  if (first || changed) backInPlace();
  if (!first && changed) {
    const heading = root.querySelector("h1");
    if (heading) {
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    }
  }
  document.body.dataset.ready = name;
}

function failed(error) {
  const isOurs = error instanceof ApiError;
  main.dataset.failed = "true";
  // A module that could not be fetched once stays so for the page: only loading it anew helps.
  const again = () => (isOurs ? route() : location.reload());
  const words = isOurs ? errorText(error) : "This screen could not be loaded.";
  return panel(
    { label: "Error" },
    notice(words, "bad"),
    h("div", { class: "row" }, button("Try again", { onClick: again }), linkButton("Go to Load", "#/load")),
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
  showStep();
}

/** On a narrow screen the steps are scrolled sideways: the one that is shown is in sight, with its name. */
function showStep() {
  const steps = document.getElementById("steps");
  const here = steps.querySelector("[aria-current]");
  if (here) steps.scrollLeft = here.offsetLeft - (steps.clientWidth - here.clientWidth) / 2;
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

/** Show what a step through the versions led to: the screen by itself where it can, else it is drawn anew. */
async function travelled(answer) {
  if (await current.travelled?.(answer)) {
    state.refresh().catch(() => {});
    return;
  }
  const place = window.scrollY;
  await state.refresh();
  await route();
  window.scrollTo(0, place);
}

const versions = versionControls(document.getElementById("versions"), {
  pending: async () => current.settle?.(),
  travelled,
});
state.subscribe(() => {
  drawSteps();
  drawSummary();
  versions.refresh();
});
keepFocus(main);
const scrolled = watchScroll();
watchConnection(document.getElementById("line"), () => main.dataset.failed && location.reload());
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
  .catch((error) => error.status !== 401 && error.status !== 0 && toast(errorText(error), { tone: "bad" }))
  .finally(route);
