"""``discreet budget``: the privacy budget of a table, spent and left."""

from __future__ import annotations

from discreet.cli import options, output


def budget(
    spec: options.SpecPath,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Show what noisy releases of a table have spent of its privacy budget."""
    result = options.open_table_of_spec(spec, threads, memory_limit).budget()
    if json:
        output.print_json(result.as_json())
    else:
        output.print_document(result.document())
    return 0
