"""Statistics over seeds: intervals, paired tests and verdicts. NumPy and SciPy only.

Nothing here knows what was measured. Functions take rows of numbers, or mappings from a
cell (any settings) to a mapping from seed to number; `experiments.measures` makes one
number of a run.
"""

from freeproj.experiments.measures import REDUCTIONS, last, mmer, running_maximum
from freeproj.stats.chance import ChanceLine, chance_lines, expected_maximum
from freeproj.stats.intervals import Interval, Summary, interval, iqm, summarise
from freeproj.stats.paired import audit, differences, half_choice, pooled_mean
from freeproj.stats.power import power_line, seeds_needed, smallest_effect
from freeproj.stats.verdicts import LEVEL, Judged, Outcome, Verdict, rule_text, verdict

__all__ = ["LEVEL", "REDUCTIONS", "ChanceLine", "Interval", "Judged", "Outcome"]
__all__ += ["Summary", "Verdict", "audit", "chance_lines", "differences"]
__all__ += ["expected_maximum", "half_choice", "interval", "iqm", "last", "mmer"]
__all__ += ["pooled_mean", "power_line", "rule_text", "running_maximum"]
__all__ += ["seeds_needed", "smallest_effect", "summarise", "verdict"]
