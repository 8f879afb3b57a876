// Attacker's view: the disclosure risk of a release, before and after, and the linkage attack with a file.

import { query } from "../api.js";
import { classesThatStandOut, sensitiveValues } from "../attacker/disclosure.js";
import { namedAttack } from "../attacker/named-attack.js";
import { linkageAttack } from "../attacker/outside-file.js";
import { namingRisks, sampleUniques } from "../attacker/risks.js";
import { field, input } from "../components/field.js";
import { jobForm, showError } from "../components/form.js";
import { composition, panel, screenHead } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { clear, h } from "../dom.js";
import { share } from "../format.js";
import { chooseRelease } from "../release/choice.js";

/** Return true if another release can be intersected with this one. */
function isComparable(other, release) {
  return other.name !== release.name && other.comparable && other.is_file && other.cautions.length === 0;
}

export async function show(root, context) {
  const { signal } = context;
  const head = screenHead({
    title: "Attacker's view",
    lead: "Disclosure to an attacker who knows a person's quasi-identifiers, before and after.",
  });
  const chosen = await chooseRelease(root, {
    path: "/api/attacker",
    head,
    none: "An attacker has the published file. Publish one to see its risks.",
    unknown: "risks of the original are not known",
    signal,
    onChange: (other) => {
      release = other;
      linkage.begin(release);
      named.begin();
      attack.send();
    },
  });
  if (chosen === null) return;
  let { release } = chosen;
  const threshold = field({
    label: "At risk above a chance of",
    hint: "0.05 is 1 in 20.",
    name: "threshold",
    control: input({ value: "0.05", inputmode: "decimal" }),
  });
  const dominance = field({
    label: "A value dominates above a share of",
    hint: "0.8 is 4 of 5 rows.",
    name: "dominance",
    control: input({ value: "0.8", inputmode: "decimal" }),
  });
  const attackBody = () => ({
    release: release.name,
    threshold: threshold.control.value.trim(),
    dominance: dominance.control.value.trim(),
  });
  const results = h("div", { class: "stack", id: "attack-results" });
  const attack = jobForm(
    {
      send: "Attack",
      actions: scriptActions("attack", attackBody, { onError: (error) => showError(attack, error), signal }),
      title: () => "Attacking the release",
      place: results,
      start: () => query("/api/attacker/jobs", attackBody(), { signal }),
      signal,
      onResult: (found) => {
        clear(results, namingRisks(found), sampleUniques(found), sensitiveValues(found), classesThatStandOut(found));
        const { highest, mean } = found.after.prosecutor;
        context.announce(`Prosecutor risk ${share(highest, 1)} at most, ${share(mean, 1)} on average.`);
      },
    },
    h("div", { class: "form" }, chosen.choice, threshold, dominance),
  );
  const linkage = linkageAttack({ attackBody, keys: chosen.overview.columns, context });
  const { attacks, columns, releases } = chosen.overview;
  const others = () => releases.filter((each) => isComparable(each, release)).map(({ name }) => name);
  const named = namedAttack({ attackBody, attacks, columns, others, context });
  linkage.begin(release);
  clear(root, composition([head, panel({ label: "Attack" }, attack)], chosen.warnings, results, named, linkage));
  await attack.send();
}
