"""The l of a class in which persons share values: a largest matching of persons and values.

Written apart from the recoding's, from the persons' side and depth first.
"""

from __future__ import annotations

from collections.abc import Sequence


def most_representatives(persons: Sequence[Sequence[int]], most: int) -> int:
    """The largest number of persons that can each stand for a different value of theirs, at most ``most``.

    ``persons`` lists the values of each person. O(persons · pairs).
    """
    holder: dict[int, int] = {}
    number = 0
    for person in range(len(persons)):
        if number >= most:
            break
        if _seat(person, persons, holder):
            number += 1
    return number


def _seat(person: int, persons: Sequence[Sequence[int]], holder: dict[int, int]) -> bool:
    """Give a person a value, moving others to other values of theirs where needed."""
    tried: set[int] = set()
    path: list[tuple[int, int]] = []
    untried = [iter(persons[person])]
    standing = [person]
    while untried:
        for wanted in untried[-1]:
            if wanted in tried:
                continue
            tried.add(wanted)
            path.append((standing[-1], wanted))
            if wanted not in holder:
                for who, what in path:
                    holder[what] = who
                return True
            standing.append(holder[wanted])
            untried.append(iter(persons[holder[wanted]]))
            break
        else:
            untried.pop()
            standing.pop()
            if path:
                path.pop()
    return False
