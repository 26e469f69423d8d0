"""The validity suite: cases whose verdict is known beforehand, and mutants of the judge that must not survive them."""

from undolab.trials.validity.bench import Case
from undolab.trials.validity.mutants import Mutant, mutants
from undolab.trials.validity.suite import cases_csv, run_cases, summary

__all__ = ["Case", "Mutant", "cases_csv", "mutants", "run_cases", "summary"]
