"""Statistics of runs: from a number per seed to what may be said. NumPy and SciPy only.

Nothing here knows what was measured. Functions take rows of numbers, or mappings from a
cell (any settings) to a mapping from seed to number. `scores` makes one number of a
run, `intervals` and `profiles` describe seeds, `paired` and `multiple` test, `verdicts`
decides what may be said, `audit` whether an agent uses its observation; `power` tells
which effects a study can find, `chance` what luck alone reaches.
"""

from freeproj.stats.audit import Audit, audit
from freeproj.stats.chance import (
    ChanceLine,
    chance_lines,
    chance_mmer,
    expected_maximum,
    luckiest,
)
from freeproj.stats.equivalence import Equivalence, equivalence
from freeproj.stats.intervals import (
    Band,
    Interval,
    Summary,
    band,
    interval,
    iqm,
    summarise,
)
from freeproj.stats.multiple import SplitChoice, holm, max_t, split_choice
from freeproj.stats.paired import (
    Paired,
    Pooled,
    differences,
    paired,
    pooled_sign_flip,
    sign_flip,
)
from freeproj.stats.power import power_line, smallest_effect
from freeproj.stats.profiles import (
    Improvement,
    Profile,
    performance_profile,
    probability_of_improvement,
)
from freeproj.stats.scores import (
    REDUCTIONS,
    contrast,
    group_by,
    last,
    mmer,
    running_maximum,
)
from freeproj.stats.verdicts import (
    LEVEL,
    CellVerdict,
    Outcome,
    Verdict,
    pairs_needed,
    verdict,
)

__all__ = [
    "LEVEL",
    "REDUCTIONS",
    "Audit",
    "Band",
    "CellVerdict",
    "ChanceLine",
    "Equivalence",
    "Improvement",
    "Interval",
    "Outcome",
    "Paired",
    "Pooled",
    "Profile",
    "SplitChoice",
    "Summary",
    "Verdict",
    "audit",
    "band",
    "chance_lines",
    "chance_mmer",
    "contrast",
    "differences",
    "equivalence",
    "expected_maximum",
    "group_by",
    "holm",
    "interval",
    "iqm",
    "last",
    "luckiest",
    "max_t",
    "mmer",
    "paired",
    "pairs_needed",
    "performance_profile",
    "pooled_sign_flip",
    "power_line",
    "probability_of_improvement",
    "running_maximum",
    "sign_flip",
    "smallest_effect",
    "split_choice",
    "summarise",
    "verdict",
]
