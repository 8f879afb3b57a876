"""``discreet schema``: what an editor needs to complete and check a spec."""

from __future__ import annotations

from discreet.cli import output


def schema() -> int:
    """Print the JSON Schema of the spec, for an editor.

    Every key with what it means, what is allowed and an example; criteria of installed packages are among
    them.
    """
    from discreet.spec.schema import spec_schema

    output.print_json(spec_schema())
    return 0
