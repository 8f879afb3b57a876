"""Planted bugs: each is a text of the program and its replacement in a copy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A planted bug: the file below ``src/discreet``, the text that it replaces, and the wrong text."""

    name: str
    file: str
    right: str
    wrong: str


MUTANTS = (
    # Counts of the audit.
    Mutant("audit counts k - 1", "sql/audit_classes.py", 'f"size < {k}"', 'f"size < {k - 1}"'),
    Mutant(
        "audit ignores l",
        "sql/audit_classes.py",
        "enumerate(thresholds) if l is not None]\n    tests += further",
        "enumerate(thresholds) if l is None]\n    tests += further",
    ),
    Mutant(
        "audit passes everything",
        "audit/class_audit.py",
        "passed=requirement.is_empty or _passed(counts, failing_classes, findings),",
        "passed=True,",
    ),
    Mutant(
        "audit does not compare the digest",
        "audit/release_audit.py",
        "if digest != claims.sha256:",
        "if False:",
    ),
    Mutant(
        "audit takes NULL for a value",
        "sql/audit_classes.py",
        'count({v}) AS d{index} "',
        "count(coalesce({v}, '')) AS d{index} \"",
    ),
    Mutant(
        "audit halves t",
        "model/criteria/t_closeness.py",
        '"greatest(p.n * r.whole - p.held * t.known, 0) AS work "',
        '"greatest(p.n * r.whole - p.held * t.known, 0) / 2 AS work "',
    ),
    Mutant(
        "audit's alpha is 0.9 times as large",
        "model/criteria/alpha_deassociation.py",
        '"max(n / known)"',
        '"max(n / known) * 0.9"',
    ),
    Mutant(
        "audit's LKC counts NULL as known",
        "model/criteria/lkc_privacy.py",
        '"CAST(coalesce(sum(n) FILTER (WHERE v IS NOT NULL), 0) AS BIGINT) AS known, "',
        '"CAST(sum(n) AS BIGINT) AS known, "',
    ),
    Mutant(
        "audit ignores weights",
        "model/criteria/weighted_k.py",
        "CAST(sum(p.n * {weight}) AS BIGINT)",
        "CAST(sum(p.n * 1000) AS BIGINT)",
    ),
    Mutant(
        "audit of delta-presence forgets suppressed rows",
        "model/criteria/delta_presence.py",
        'left = f"suppressed > 0 AND',
        'left = f"suppressed < 0 AND',
    ),
    # Counts of the search.
    Mutant(
        "search halves t",
        "model/criteria/t_closeness.py",
        "    return pairs.summed(np.maximum(surplus, 0), pairs.owners), 1\n",
        "    return pairs.summed(np.maximum(surplus, 0), pairs.owners) // 2, 1\n",
    ),
    Mutant(
        "search's beta ignores the enhanced bound",
        "model/criteria/beta_likeness.py",
        "beyond |= gain > bound * (1 + float_criterion.RELATIVE_ROUNDING)",
        "beyond |= gain > bound + 1",
    ),
    Mutant(
        "recursive diversity begins one value too early",
        "model/criteria/recursive_diversity.py",
        "np.add.at(rest, owners[places >= self.l - 1], counts[places >= self.l - 1])",
        "np.add.at(rest, owners[places >= self.l - 2], counts[places >= self.l - 2])",
    ),
    Mutant(
        "records at risk are counted up to the threshold",
        "model/criteria/release_shares.py",
        "tails.sizes < size_at_risk(self.above)",
        "tails.sizes < size_at_risk(self.above) - 1",
    ),
    Mutant(
        "subjects and values are not matched",
        "frequency/fact_counter.py",
        "for i in np.flatnonzero(unsure).tolist():",
        "for i in np.flatnonzero(unsure & False).tolist():",
    ),
    Mutant(
        "delta-presence forgets the suppressed rows",
        "model/criteria/delta_presence.py",
        "many = (rows > 0) & (PRESENCE_UNIT * rows > (PRESENCE_UNIT - threshold) * people)",
        "many = (rows > 0) & (PRESENCE_UNIT * rows > PRESENCE_UNIT * people)",
    ),
    Mutant(
        "a compiled kernel is off by one",
        "kernels/suppressed_rows.py",
        "                fails |= signatures[part, entry] < thresholds[part]\n            total +=",
        "                fails |= signatures[part, entry] < thresholds[part] - 1\n            total +=",
    ),
    Mutant(
        "a compiled score rounds for the class",
        "kernels/class_scores.py",
        "    return -ceil(min(measure, _LARGEST_MEASURE) * _DOWN)\n",
        "    return -floor(min(measure, _LARGEST_MEASURE) * 0.9 * _DOWN)\n",
    ),
    Mutant(
        "a relaxation ignores the requested height",
        "negotiation/negotiator.py",
        "start = self._order.starts[sum(high)] if request.scope is RelaxationScope.ABOVE else 0",
        "start = 0",
    ),
    Mutant(
        "weights of attributes are ignored",
        "verbs/models/recoding_model.py",
        "return {a.name: a.weight for a in self.table.spec.quasi_identifiers}",
        "return {a.name: 1.0 for a in self.table.spec.quasi_identifiers}",
    ),
    # Published cells.
    Mutant(
        "masks keep two characters too many",
        "hierarchy/character_mask.py",
        "        stars = self.character * masked\n",
        "        masked = max(masked - 2, 0)\n        stars = self.character * masked\n",
    ),
    Mutant(
        "patterns have one star too many",
        "patterns/masks.py",
        "constraints.max_stars is None else constraints.max_stars\n",
        "constraints.max_stars is None else constraints.max_stars + 1\n",
    ),
    Mutant(
        "rows are in the source's order",
        "recoding/direct_recoding.py",
        "    return order_clause(engine.dialect, keys)\n",
        '    return ""\n',
    ),
    Mutant(
        "a manifest states no suppressed row",
        "release/publication_evidence.py",
        "        suppressed=table.suppressed,\n        model=",
        "        suppressed=0,\n        model=",
    ),
    Mutant(
        "pseudonyms do not depend on the key",
        "model/identifiers/methods.py",
        "hmac.new(key, text",
        'hmac.new(b"discreet", text',
    ),
    Mutant(
        "every subject's dates move alike",
        "model/identifiers/base.py",
        'hmac.new(key, b"days\\0" + subject.encode(errors="surrogatepass"), hashlib.sha256)',
        'hmac.new(key, b"days\\0", hashlib.sha256)',
    ),
    Mutant(
        "suppressed rows keep their other cells",
        "sql/recoded_classes.py",
        'THEN {literal(STAR)} ELSE {cell} END"',
        'THEN {cell} ELSE {cell} END"',
    ),
    Mutant(
        "help tables add up one value less",
        "permutation/help_table_lines.py",
        "    most = total - least[back] + values[back]\n",
        "    most = total - least[back]\n",
    ),
    # Checks before and after publication.
    Mutant(
        "a release may replace a hierarchy",
        "release/release_target.py",
        "        if isinstance(path, Path):\n",
        "        if isinstance(path, str):\n",
    ),
    Mutant(
        "the ledger checks nothing",
        "differential/ledger.py",
        "if not (self.spent + loss).fits(self.budget):",
        "if False:",
    ),
    Mutant(
        "parts of several releases are not judged",
        "verbs/earlier_releases.py",
        "        if fails.any():\n            least",
        "        if False:\n            least",
    ),
    Mutant(
        "apply shows one level less",
        "verbs/recorded_decisions.py",
        "        result[entry.name] = entry.level\n",
        "        result[entry.name] = max(entry.level - 1, 0)\n",
    ),
    Mutant(
        "a lock takes any spec", "verbs/recorded_decisions.py", "    if differences:\n", "    if False:\n"
    ),
    Mutant(
        "written rows are not compared",
        "release/publication.py",
        "            if (rows, total) != _fetch_decided_hash(engine, part, decided):\n",
        "            if False:\n",
    ),
    Mutant(
        "rows of suppressed people are released",
        "verbs/relational.py",
        "if rows.parents.get(key, key) in above}",
        "if rows.parents.get(key, key)}",
    ),
    Mutant(
        "groups are one value short",
        "permutation/partitions.py",
        "        max(requirement.k, 2),\n",
        "        max(requirement.k - 1, 2),\n",
    ),
)
"""All planted bugs; a test requires that each text occurs once in its file."""
