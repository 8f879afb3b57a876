"""``discreet hierarchies``: list the built-in hierarchies."""

from __future__ import annotations

from discreet.cli import options, output


def hierarchies(
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """List the built-in hierarchies.

    Ages, dates, diagnoses, occupations, economic activities, countries and postal codes: each with its
    levels from fine to coarse, an example, and its source. They need no data.
    """
    from discreet.verbs import builtin_hierarchies

    options.parse_settings(threads, memory_limit)
    found = builtin_hierarchies.hierarchies()
    if json:
        output.print_json(found.as_json())
    else:
        output.print_document(found.document())
    return 0
