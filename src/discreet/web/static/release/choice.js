// The release of the Analyst and Attacker screens: selected once, remembered for the other screen.

import { get } from "../api.js";
import { clear, h } from "../dom.js";
import { field, select } from "../components/field.js";
import { empty, linkButton, notice } from "../components/parts.js";
import { draftOf, keepDraft } from "../drafts.js";
import { updateLocation, pageLocation } from "../page-location.js";
import { cautions } from "./words.js";

const REMEMBERED = "release";

/** Remember a choice for the other screens. */
export function rememberRelease(name) {
  keepDraft(REMEMBERED, name);
}

/**
 * Return the initial data of a screen about one release, `{overview, release, choice, warnings}`; null if nothing is
 * published, which is then shown. `unknown` describes the results that need the original; `onChange(release)`.
 */
export async function chooseRelease(root, { path, head, none, unknown, signal, onChange }) {
  const overview = await get(path, { signal });
  const { releases } = overview;
  if (releases.length === 0) {
    clear(root, head, noRelease(none));
    return null;
  }
  const named = (name) => releases.find((each) => each.name === name);
  const release = named(pageLocation().params.get("release")) ?? named(draftOf(REMEMBERED)) ?? releases[0];
  updateLocation({ release: release.name });
  const warnings = h("div", {});
  const warn = (chosen) =>
    clear(
      warnings,
      cautions(chosen.cautions),
      !chosen.comparable && notice(`The loaded table is not the original of this release: ${unknown}.`, "warning"),
    );
  const choice = releaseField(releases, release, (chosen) => {
    rememberRelease(chosen.name);
    updateLocation({ release: chosen.name });
    warn(chosen);
    onChange(chosen);
  });
  warn(release);
  return { overview, release, choice, warnings };
}

function releaseField(releases, release, onChange) {
  const control = select(
    releases.map((each) => each.name),
    {
      value: release.name,
      on: { change: () => onChange(releases.find((each) => each.name === control.value)) },
    },
  );
  return field({ label: "Release", control, name: "release" });
}

function noRelease(words) {
  return empty({
    title: "No release yet",
    text: words,
    actions: [
      linkButton("Publish a release", "#/publish", { tone: "primary" }),
      linkButton("Negotiate first", "#/negotiate"),
    ],
  });
}
