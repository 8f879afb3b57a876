"""Conversion from other tools: their files and arguments as a spec, and as keywords of an audit.

::

    from discreet import coming_from

    spec = coming_from.anjana(quasi_ident, hierarchies, ident=ident, sens_att="disease", k=2, supp_level=5)
    table = discreet.open(frame, spec)
    release = table.publish(table.negotiate().exact)
    discreet.audit("table.csv", **coming_from.pycanon(quasi_ident, ["disease"]))
    coming_from.arx("study.deid", "study/discreet.toml")

``docs/coming-from.md`` maps the terms of ARX, anjana, pycanon, sdcMicro, Amnesia and μ-Argus to discreet's.
"""

from discreet.foreign.library_arguments import anjana, pycanon
from discreet.verbs.arx_spec import ArxSpec, arx

__all__ = ["ArxSpec", "anjana", "arx", "pycanon"]
