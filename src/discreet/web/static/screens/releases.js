// What the analyst's, the attacker's and the publisher's screens share: choosing a release, its cautions, its jobs.

import { cancel, errorText, follow } from "../api.js";
import { clear, h } from "../dom.js";
import { field, select } from "../components/field.js";
import { badge, empty, linkButton, notice } from "../components/parts.js";
import { progress } from "../components/progress.js";

let remembered = null;

/** The release that was chosen last on any of these screens, where it is still there; else the latest. */
export function chosenRelease(releases) {
  return releases.find((each) => each.name === remembered) ?? releases[0] ?? null;
}

/** Remember a choice for the other screens. */
export function rememberRelease(name) {
  remembered = name;
}

/** A select of releases; `onChange(release)`. */
export function releaseField(releases, onChange) {
  const control = select(
    releases.map((each) => [each.name, each.name]),
    {
      value: chosenRelease(releases)?.name,
      on: {
        change: () => {
          const found = releases.find((each) => each.name === control.value);
          rememberRelease(found.name);
          onChange(found);
        },
      },
    },
  );
  return field({ label: "Release", control, name: "release" });
}

/** What must stand beside a permuted release, wherever it is shown. */
export function cautions(texts) {
  if (texts.length === 0) return null;
  return notice([h("strong", {}, "Permuted release. "), texts.map((each) => h("p", {}, each))], "warning");
}

/** Nothing was published yet. */
export function noRelease(words) {
  return empty({
    title: "No release yet",
    text: words,
    actions: [
      linkButton("Publish a release", "#/publish", { tone: "primary" }),
      linkButton("Negotiate first", "#/negotiate"),
    ],
  });
}

/** Follow a job in `place`, with its progress and a way to stop it; null where it was stopped or failed. */
export async function runJob(place, label, start, { signal, onError = null } = {}) {
  let id = null;
  const bar = progress(label, {
    onCancel: () => {
      if (id) cancel(id).catch(() => {});
    },
  });
  clear(place, bar.element);
  bar.set(0, 0);
  try {
    id = (await start()).job;
    const result = await follow(
      id,
      (job) => {
        if (job.stage) bar.title(job.stage);
        bar.set(job.done ?? 0, job.total ?? 0, job.notices.at(-1) ?? null);
      },
      { signal },
    );
    clear(place);
    return result;
  } catch (error) {
    if (signal?.aborted) return null;
    if (error.name === "AbortError") clear(place, notice("Cancelled. Nothing was left behind.", "plain"));
    else if (!(onError && onError(error))) clear(place, notice(errorText(error), "bad"));
    else clear(place);
    return null;
  }
}

/** How wide a plot is drawn, so that its words stay readable on a phone. */
export function plotWidth() {
  return window.innerWidth < 600 ? 330 : 520;
}

/** The model of a release as a badge. */
export function modelBadge(release) {
  return badge(release.model, release.permuted ? "warning" : "accent");
}

const STEPS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000];

/** Rows by the size of their class, in bands: `{size: classes}` → `[{label, count}]`. */
export function sizeBands(sizes, { below = 0 } = {}) {
  const rows = STEPS.map(() => 0);
  for (const [size, classes] of Object.entries(sizes)) {
    const place = STEPS.findLastIndex((least) => Number(size) >= least);
    rows[place] += Number(size) * classes;
  }
  const first = Math.max(
    0,
    rows.findIndex((each) => each > 0),
  );
  const last = Math.max(
    first,
    rows.findLastIndex((each) => each > 0),
  );
  return STEPS.slice(first, last + 1).map((least, place) => {
    const next = STEPS[first + place + 1];
    const label = next === undefined ? `${least}+` : next - 1 === least ? `${least}` : `${least}–${next - 1}`;
    return { label, count: rows[first + place], tone: least < below ? "warning" : null };
  });
}
