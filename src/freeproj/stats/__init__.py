"""Statistics over seeds: intervals, paired tests and verdicts. NumPy and SciPy only.

Nothing here knows what was measured. Functions take rows of numbers, or mappings from a
cell (any settings) to a mapping from seed to number. `experiments.measures` makes one
number of a run, `intervals` describes seeds, `paired` compares them and asks whether an
agent uses its observation, `verdicts` holds the one rule that decides; `power` tells
which effects a study can find, `chance` what chance alone reaches.
"""

from freeproj.experiments.measures import REDUCTIONS, last, mmer, running_maximum
from freeproj.stats.chance import ChanceLine, chance_lines, expected_maximum
from freeproj.stats.intervals import (
    Band,
    Interval,
    Summary,
    band,
    interval,
    iqm,
    summarise,
)
from freeproj.stats.paired import (
    Audit,
    HalfChoice,
    Mean,
    audit,
    differences,
    half_choice,
    mean_of,
    pooled_mean,
)
from freeproj.stats.power import power_line, seeds_needed, smallest_effect
from freeproj.stats.verdicts import (
    EXPECTS,
    LEVEL,
    Judged,
    Outcome,
    Verdict,
    rule_text,
    verdict,
)

__all__ = ["EXPECTS", "LEVEL", "REDUCTIONS", "Audit", "Band", "ChanceLine"]
__all__ += ["HalfChoice", "Interval", "Judged", "Mean", "Outcome", "Summary", "Verdict"]
__all__ += ["audit", "band", "chance_lines", "differences", "expected_maximum"]
__all__ += ["half_choice", "interval", "iqm", "last", "mean_of", "mmer", "pooled_mean"]
__all__ += ["power_line", "rule_text", "running_maximum", "seeds_needed"]
__all__ += ["smallest_effect", "summarise", "verdict"]
