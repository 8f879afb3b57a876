"""Coming from another tool: its arguments as a spec, and as keywords of an audit.

::

    from discreet import coming_from

    spec = coming_from.anjana(quasi_ident, hierarchies, ident=ident, sens_att="disease", k=2, supp_level=5)
    release = discreet.open(frame, spec).publish()
    discreet.audit("table.csv", **coming_from.pycanon(quasi_ident, ["disease"]))
"""

from discreet.foreign.dictionaries import anjana, pycanon

__all__ = ["anjana", "pycanon"]
