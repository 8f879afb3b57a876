"""Figures printed in the negotiation paper (000), for Adult with 30,162 rows; see ``docs/negotiation.md``.

Levels are strings of digits in the paper's attribute order. Figures stand as printed, misprints too; where
ours differ, the test beside says so. The paper's figures for IPUMS are left out: its data is not public.
"""

from __future__ import annotations

from dataclasses import dataclass

ATTRIBUTES = {
    3: ("age", "race", "work_class"),
    4: ("age", "occupation", "race", "work_class"),
    5: ("age", "education", "occupation", "race", "work_class"),
    6: ("age", "education", "marital_status", "occupation", "race", "work_class"),
}

SENSITIVE = "hours_per_week"

# QI size: average suppressed rows at heights 0 to 9, k=3.
AVERAGES_K3 = {
    3: (554.0, 208.7, 56.5, 24.0, 8.5, 4.0, 1.7, 0.7, 0.0, 0.0),
    4: (3297.0, 1847.8, 868.6, 354.3, 121.0, 42.9, 15.1, 6.1, 2.1, 0.4),
    5: (10458.0, 7795.2, 5537.1, 3711.9, 2296.3, 1295.1, 644.3, 283.0, 110.4, 40.5),
    6: (15318.0, 12808.7, 10369.3, 8105.1, 6036.7, 4255.2, 2803.0, 1703.8, 941.1, 465.5),
}

# The same as percentages of all rows.
AVERAGE_PERCENTAGES_K3 = {
    3: (1.8, 0.7, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    4: (10.9, 6.1, 2.9, 1.2, 0.4, 0.1, 0.0, 0.0, 0.0, 0.0),
    5: (34.7, 25.8, 18.4, 12.3, 7.6, 4.3, 2.1, 0.9, 0.4, 0.1),
    6: (50.8, 42.5, 34.4, 26.9, 20.0, 14.1, 9.3, 5.6, 3.1, 1.5),
}

# QI size: fewest suppressed rows at heights 0 to 9, k=3.
MINIMA_K3 = {
    3: (554, 125, 28, 12, 4, 1, 0, 0, 0, 0),
    4: (3297, 1042, 318, 110, 28, 12, 4, 0, 0, 0),
    5: (10458, 4514, 2169, 1123, 716, 322, 108, 41, 8, 2),
    6: (15318, 8304, 4901, 2867, 1941, 1177, 629, 354, 155, 33),
}

# QI 3, k: (min, average, max) at heights 0 to 6.
EFFECT_OF_K = {
    3: ((554, 554, 554), (125, 209, 295), (28, 57, 69), (12, 24, 54), (4, 8, 15), (1, 4, 7), (0, 2, 4)),
    10: (
        *((1921, 1921, 1921), (522, 1030, 1357), (170, 352, 508), (51, 148, 484)),
        *((28, 45, 94), (2, 19, 37), (0, 9, 23)),
    ),
    25: (
        *((4578, 4578, 4578), (1184, 2546, 3573), (610, 1153, 1926), (195, 419, 1236)),
        *((56, 127, 222), (14, 48, 105), (14, 21, 40)),
    ),
}

# QI size: (min, average, max, average in % of all rows, "% over previous") by height, k=3. In the last column
# QI 3 prints the drop from the height below in % of that height's average, QI 5 in % of this height's own.
MIN_AVERAGE_MAX = {
    3: (
        (554, 554, 554, 1.83, None),
        (125, 207, 295, 0.69, 62.33),
        (28, 56, 69, 0.19, 72.92),
        (12, 24, 54, 0.08, 57.52),
        (4, 8, 15, 0.03, 64.79),
        (1, 4, 7, 0.01, 52.66),
        (0, 2, 4, 0.01, 58.50),
    ),
    5: (
        (10458, 10458, 10458, 34.67, None),
        (4514, 7795, 9879, 25.84, 34.15),
        (2169, 5459, 8913, 18.10, 42.80),
        (1619, 3472, 7398, 11.51, 57.22),
        (1051, 1881, 3353, 6.24, 84.53),
        (773, 733, 733, 2.43, 156.67),
    ),
}

# QI size: (min at k=10 / min at k=3, min at k=25 / min at k=10) at heights 0 to 5.
RATIOS_OF_MINIMA = {
    3: ((3.47, 2.38), (4.18, 2.27), (6.07, 3.59), (4.25, 3.82), (7, 2), (2, 7)),
    4: ((2.86, 1.56), (3.14, 2.02), (3.97, 2.28), (4.75, 2.27), (6.07, 3.59), (4.25, 3.12)),
    5: ((1.81, 1.37), (2.42, 1.51), (2.84, 1.73), (2.98, 1.77), (3.8, 1.88), (4.22, 2.06)),
    6: ((1.57, 1.18), (1.91, 1.34), (2.17, 1.47), (2.49, 1.64), (2.61, 1.68), (3.03, 1.71)),
}

# QI 6: (attribute, level, groups, average group size, relative importance).
GROUPING_POWER = (
    ("age", 4, 3455, 8.73, 1.56),
    ("age", 3, 5380, 5.61, 1.30),
    ("age", 2, 7015, 4.30, 1.30),
    ("age", 1, 9117, 3.31, 1.70),
    ("age", 0, 15537, 1.94, 0.59),
    ("education", 4, 8247, 3.66, 1.26),
    ("education", 3, 10407, 2.90, 1.30),
    ("education", 2, 13526, 2.23, 1.09),
    ("education", 1, 14796, 2.04, 1.05),
    ("education", 0, 15537, 1.94, 0.95),
    ("marital_status", 3, 11190, 2.70, 1.16),
    ("marital_status", 2, 13018, 2.32, 1.14),
    ("marital_status", 1, 14855, 2.03, 1.05),
    ("marital_status", 0, 15537, 1.94, 0.96),
    ("occupation", 2, 7932, 3.80, 1.38),
    ("occupation", 1, 10975, 2.75, 1.42),
    ("occupation", 0, 15537, 1.94, 0.71),
    ("race", 2, 13478, 2.24, 1.13),
    ("race", 1, 15210, 1.98, 1.02),
    ("race", 0, 15537, 1.94, 0.98),
    ("work_class", 3, 11790, 2.56, 1.00),
    ("work_class", 2, 11798, 2.56, 1.24),
    ("work_class", 1, 14668, 2.06, 1.06),
    ("work_class", 0, 15537, 1.94, 0.94),
)


@dataclass(frozen=True)
class Printed:
    """One printed answer: the node's number, its levels and its suppressed rows."""

    number: int
    levels: str
    suppressed: int


@dataclass(frozen=True)
class PrintedRequest:
    """One printed request with every answer that is printed for it.

    ``parameter`` is k or l, ``relaxed_parameter`` the k or l of the third relaxation, None for the
    printed "No solution".
    """

    parameter: int
    levels: str
    exact: Printed | None = None
    fewer_suppressed: Printed | None = None
    higher: Printed | None = None
    weaker: Printed | None = None
    relaxed_parameter: int | None = None


def _exact(parameter: int, levels: str, number: int, node: str, suppressed: int) -> PrintedRequest:
    return PrintedRequest(parameter, levels, exact=Printed(number, node, suppressed))


def _relaxed(
    parameter: int,
    levels: str,
    number: int,
    suppressed: int,
    higher: tuple[int, str, int],
    weaker: tuple[int, int] | None = None,
) -> PrintedRequest:
    """``weaker`` is the relaxed parameter and its suppressed rows; None stands for "No solution"."""
    return PrintedRequest(
        parameter,
        levels,
        fewer_suppressed=Printed(number, levels, suppressed),
        higher=Printed(*higher),
        weaker=None if weaker is None else Printed(number, levels, weaker[1]),
        relaxed_parameter=None if weaker is None else weaker[0],
    )


MAX_SUPPRESSED = 321

K_REQUESTS = (
    # the parameter varies
    _exact(3, "211", 4, "100", 125),
    _exact(10, "211", 5, "110", 170),
    _exact(50, "211", 23, "211", 251),
    _exact(3, "2011", 56, "1011", 283),
    _relaxed(10, "2011", 65, 655, (17, "1210", 170), (5, 301)),
    _relaxed(50, "2011", 65, 4077, (107, "1212", 137), (5, 301)),
    _relaxed(3, "21012", 551, 656, (503, "10212", 108)),
    _relaxed(10, "21012", 551, 2533, (504, "10222", 230)),
    _relaxed(50, "21012", 551, 9214, (636, "40122", 169)),
    _relaxed(3, "211012", 2591, 1611, (763, "400202", 155)),
    _relaxed(10, "211012", 2591, 5362, (2171, "401211", 285)),
    _relaxed(50, "211012", 2591, 15106, (2812, "401222", 137)),
    # the levels vary
    _exact(10, "101", 19, "101", 257),
    _exact(10, "212", 5, "110", 170),
    _relaxed(10, "1001", 55, 2349, (17, "1210", 170)),
    _exact(10, "2112", 59, "1111", 285),
    _relaxed(10, "11001", 280, 8169, (504, "10222", 230)),
    _relaxed(10, "22112", 563, 369, (635, "40112", 60), (9, 315)),
    _relaxed(10, "111001", 336, 12823, (2171, "401211", 285)),
    _relaxed(10, "222112", 2623, 712, (2811, "401212", 54), (5, 298)),
)

L_REQUESTS = (
    # the parameter varies
    _exact(3, "211", 4, "100", 240),
    _exact(6, "211", 20, "111", 70),
    _exact(9, "211", 20, "111", 186),
    _exact(3, "2011", 65, "2011", 319),
    _relaxed(6, "2011", 65, 1013, (18, "1220", 54), (3, 319)),
    _relaxed(9, "2011", 65, 2005, (18, "1220", 104), (3, 319)),
    _relaxed(3, "21012", 551, 1139, (503, "10212", 244)),
    _relaxed(6, "21012", 551, 3205, (504, "10222", 302)),
    _relaxed(9, "21012", 551, 5418, (635, "40112", 250)),
    _relaxed(3, "211012", 2591, 2715, (2452, "101222", 288)),
    _relaxed(6, "211012", 2591, 6602, (2811, "401212", 90)),
    _relaxed(9, "211012", 2591, 10139, (2811, "401212", 206)),
    # the levels vary
    _relaxed(6, "101", 19, 368, (6, "120", 54), (5, 266)),
    _exact(6, "212", 34, "102", 64),
    _relaxed(6, "1001", 55, 3081, (18, "1220", 54)),
    _exact(6, "2112", 104, "1112", 61),
    _relaxed(6, "11001", 280, 9444, (504, "10222", 302)),
    _relaxed(6, "22112", 563, 434, (635, "40112", 63), (5, 282)),
    _relaxed(6, "111001", 336, 14076, (2811, "401212", 90)),
    _relaxed(6, "222112", 2623, 857, (2811, "401212", 90), (3, 253)),
)
