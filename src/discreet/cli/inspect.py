"""``discreet inspect``: what a table is before anything is done to it."""

from __future__ import annotations

from discreet.cli import options, output


def inspect(
    spec: options.SpecPath,
    json: options.Json = False,
    _debug: options.Debug = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Show row types, uniqueness, risk and warnings."""

    table = options.opened(spec, threads, memory_limit)
    result = table.inspect()
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.document())
    return 0
