"""Statistics of runs: from a tidy table of evaluations to what may be said.

`table` and `files` hold the evaluations, `seeds` makes one number per run of them,
`summary`, `curves` and `compare` speak about groups of runs, `chance` about luck.
NumPy only.
"""

from freeproj.stats.audit import Audit, audit
from freeproj.stats.chance import (
    ChanceLine,
    EpisodeLaw,
    chance_lines,
    chance_mmer,
    exact_chance_mmer,
    expected_maximum,
    luckiest,
    repeat_first_chance,
    simulate_chance_mmer,
)
from freeproj.stats.compare import (
    Improvement,
    PairedComparison,
    Profile,
    compare_free_with_plain,
    compare_pairs,
    performance_profile,
    probability_of_improvement,
)
from freeproj.stats.curves import Band, Curve, learning_curves, mean_band
from freeproj.stats.equivalence import Equivalence, equivalence
from freeproj.stats.files import format_csv, read_csv, write_csv
from freeproj.stats.intervals import band, interval
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
from freeproj.stats.scores import contrast, group_by, last, mmer, running_maximum
from freeproj.stats.seeds import (
    CRITERIA,
    Cell,
    LengthChoice,
    SeedScore,
    best_lengths,
    group_by_cell,
    seed_scores,
)
from freeproj.stats.summary import (
    STATISTICS,
    Interval,
    Strata,
    Summary,
    bootstrap_interval,
    iqm,
    statistic_of,
    summarise,
)
from freeproj.stats.table import COLUMNS, Row, Table, as_table, concatenate
from freeproj.stats.verdicts import (
    LEVEL,
    CellVerdict,
    Outcome,
    Verdict,
    pairs_needed,
    verdict,
)

__all__ = [
    "COLUMNS",
    "CRITERIA",
    "LEVEL",
    "STATISTICS",
    "Audit",
    "Band",
    "Cell",
    "CellVerdict",
    "ChanceLine",
    "Curve",
    "EpisodeLaw",
    "Equivalence",
    "Improvement",
    "Interval",
    "LengthChoice",
    "Outcome",
    "Paired",
    "PairedComparison",
    "Pooled",
    "Profile",
    "Row",
    "SeedScore",
    "SplitChoice",
    "Strata",
    "Summary",
    "Table",
    "Verdict",
    "as_table",
    "audit",
    "band",
    "best_lengths",
    "bootstrap_interval",
    "chance_lines",
    "chance_mmer",
    "compare_free_with_plain",
    "compare_pairs",
    "concatenate",
    "contrast",
    "differences",
    "equivalence",
    "exact_chance_mmer",
    "expected_maximum",
    "format_csv",
    "group_by",
    "group_by_cell",
    "holm",
    "interval",
    "iqm",
    "last",
    "learning_curves",
    "luckiest",
    "max_t",
    "mean_band",
    "mmer",
    "paired",
    "pairs_needed",
    "performance_profile",
    "pooled_sign_flip",
    "power_line",
    "probability_of_improvement",
    "read_csv",
    "repeat_first_chance",
    "running_maximum",
    "seed_scores",
    "sign_flip",
    "simulate_chance_mmer",
    "smallest_effect",
    "split_choice",
    "statistic_of",
    "summarise",
    "verdict",
    "write_csv",
]
