// The shell: steps in the publisher's order, the summary, the theme, and one screen at a time.

import { ApiError, startScreen, errorText, get } from "./api.js";
import { watchChanges } from "./changes.js";
import { themeChanged } from "./colour.js";
import { announce, clearToasts, toast } from "./components/status.js";
import { button, linkButton, notice, panel, screenHead } from "./components/parts.js";
import { watchConnection } from "./connection.js";
import { clear, h, visuallyHidden } from "./dom.js";
import { count } from "./format.js";
import { icon } from "./icons.js";
import { keepDraft } from "./drafts.js";
import { keepFocus } from "./focus.js";
import { arrived, arriving, updateLocation, pageLocation, watchScroll } from "./page-location.js";
import { watchPrint } from "./print.js";
import { state } from "./state.js";
import { resumeTour } from "./tour.js";
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
// Screens that are not a step: their title, and the step that they belong to.
const OTHER_SCREENS = { compare: ["Compare", "publish"] };
// The parts of the work that each screen shows: the page reports changes of these by others.
const PARTS = {
  negotiate: ["table", "request", "choice"],
  compare: ["table", "request", "saved"],
  publish: ["table", "request", "choice"],
};
const STATES = { done: "done", attention: "needs attention", todo: "not started" };
const main = document.getElementById("main");
const frame = document.querySelector(".frame");
const stepsOpen = document.getElementById("steps-open");
let visit = null;
let shown = null;
let current = {}; // methods of the current screen: leave, settle, travelled, changed

function go(path) {
  location.hash = `#/${path}`;
}

async function route() {
  const found = pageLocation();
  const { params } = found;
  const isScreen = SCREENS.some(([each]) => each === found.name) || found.name in OTHER_SCREENS;
  const name = isScreen ? found.name : null;
  if (location.hash === "#main") {
    main.focus();
    return;
  }
  if (name === null) {
    location.replace(`#/${firstOpenStep()}`);
    return;
  }
  arriving();
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
  const title = OTHER_SCREENS[name]?.[0] ?? SCREENS.find(([each]) => each === name)[1];
  document.title = `${title} · discreet workbench`;
  document.body.dataset.step = name;
  openSteps(false);
  drawSteps();
  clearToasts();
  forgetChanges();
  const root = h("div", { class: "screen", dataset: { screen: name } });
  clear(main, root);
  main.setAttribute("aria-busy", "true");
  delete main.dataset.failed;
  try {
    const [screen] = await Promise.all([import(`./screens/${name}.js`), startScreen()]);
    if (signal.aborted) return;
    const able = (await screen.show(root, { ...shell, signal, params })) ?? {};
    if (signal.aborted) able.leave?.();
    else current = able;
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    clear(root, screenHead({ title }), failed(error));
    if (!(error instanceof ApiError)) {
      console.warn(error);
      get("/api/session").catch(() => {}); // checks whether the server still answers
    }
  }
  main.removeAttribute("aria-busy");
  arrived(first || changed);
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
  main.dataset.failed = isOurs ? "answer" : "module";
  // The browser remembers a module that could not be fetched: only a reload of the page helps.
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
      const current = name === (OTHER_SCREENS[shown]?.[1] ?? shown);
      const mark =
        step.state === "done" && !current ? icon("check") : step.state === "attention" && !current ? "!" : "";
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
  const at = SCREENS.findIndex(([name]) => name === shown);
  clear(
    stepsOpen,
    h("b", {}, OTHER_SCREENS[shown]?.[0] ?? SCREENS[at]?.[1] ?? "Steps"),
    at >= 0 && h("span", {}, `${at + 1} of ${SCREENS.length}`),
    icon("down"),
  );
}

/** Open the list of steps, which is collapsed on a narrow screen. */
function openSteps(open) {
  stepsOpen.setAttribute("aria-expanded", String(open));
  stepsOpen.parentElement.classList.toggle("open", open);
}

function drawSummary() {
  const area = document.getElementById("summary");
  const { source, rows } = state.summary ?? {};
  if (!source) {
    clear(area, h("span", {}, "No table yet"));
    return;
  }
  clear(
    area,
    h("span", { class: "name", title: source.name }, source.name),
    rows !== null && h("span", { class: "number" }, count(rows, "row")),
  );
}

const THEMES = { auto: ["system", "light"], light: ["light", "dark"], dark: ["dark", "auto"] };
const ICONS = { auto: "half", light: "sun", dark: "moon" };

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
    // Without storage the choice lasts for this visit.
  }
  drawTheme();
  themeChanged();
  announce(`Theme: ${THEMES[theme][0]}`);
}

/** Show the result of undo, redo or restore: the screen updates itself if it can, else it is drawn again. */
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
const shell = { go, announce, toast, state, updateLocation, versions: () => versions.timeline() };
watchScroll();
watchPrint(main, document.getElementById("summary"));
watchConnection(document.getElementById("line"), () => {
  if (main.dataset.failed === "module") location.reload();
  else if (main.dataset.failed)
    state
      .refresh()
      .catch(() => {})
      .finally(route);
});
const forgetChanges = watchChanges(document.getElementById("changed"), {
  partsOf: () => PARTS[shown] ?? ["table"],
  onChange: (parts) => current.changed?.(parts),
  onShow: () => {
    keepDraft("request", null);
    state
      .refresh()
      .catch(() => {})
      .finally(route);
  },
  onKeep: () => current.keep ?? null,
});
document.getElementById("theme").addEventListener("click", nextTheme);
document.querySelector(".skip-link").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
  main.scrollIntoView();
});
window.addEventListener("hashchange", route);
stepsOpen.addEventListener("click", () => openSteps(stepsOpen.getAttribute("aria-expanded") !== "true"));
document.addEventListener("click", ({ target }) => {
  if (!stepsOpen.contains(target)) openSteps(false);
});
stepsOpen.parentElement.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  openSteps(false);
  stepsOpen.focus();
});
new ResizeObserver(() => {
  const { height } = frame.getBoundingClientRect();
  document.documentElement.style.setProperty("--header-height", `${Math.round(height)}px`);
}).observe(frame);
drawTheme();
drawSteps();
drawSummary();
state
  .refresh()
  .catch((error) => error.status !== 401 && error.status !== 0 && toast(errorText(error), { tone: "bad" }))
  .finally(route)
  .finally(resumeTour);
