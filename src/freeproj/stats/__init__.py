"""Statistics of runs: from a tidy table of evaluations to what may be said.

`table` and `files` hold the evaluations, `seeds` makes one number per run of them,
`summary`, `curves` and `compare` speak about groups of runs, `chance` about luck.
NumPy only.
"""

from freeproj.stats.chance import (
    ChanceLine,
    EpisodeLaw,
    chance_mmer,
    exact_chance_mmer,
    expected_maximum,
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
from freeproj.stats.files import format_csv, read_csv, write_csv
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

__all__ = [
    "COLUMNS",
    "CRITERIA",
    "STATISTICS",
    "Band",
    "Cell",
    "ChanceLine",
    "Curve",
    "EpisodeLaw",
    "Improvement",
    "Interval",
    "LengthChoice",
    "PairedComparison",
    "Profile",
    "Row",
    "SeedScore",
    "Strata",
    "Summary",
    "Table",
    "as_table",
    "best_lengths",
    "bootstrap_interval",
    "chance_mmer",
    "compare_free_with_plain",
    "compare_pairs",
    "concatenate",
    "exact_chance_mmer",
    "expected_maximum",
    "format_csv",
    "group_by_cell",
    "iqm",
    "learning_curves",
    "mean_band",
    "performance_profile",
    "probability_of_improvement",
    "read_csv",
    "repeat_first_chance",
    "seed_scores",
    "simulate_chance_mmer",
    "statistic_of",
    "summarise",
    "write_csv",
]
