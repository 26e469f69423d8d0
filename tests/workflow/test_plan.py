"""What Snakemake plans for the studies of a configuration."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

MAIN = ("build/wire/heads.tsv", "build/stats/metrics.json")
"""All that becomes of the logs of every study, and of the main study's verdicts."""
DEV_RECORDS = [("gemma3-270m", "dev")]
SIDE = {
    "models": ["gemma3-270m"],
    "frameworks": ["F1"],
    "boundaries": ["PRE_MUTATION"],
    "methods": ["none"],
    "seeds": [1],
    "prompt": "runbook",
    "examples": "plain",
}
ROOT = Path(__file__).parents[2]
DEV = len(list(ROOT.glob("data/workflows/dev/*.yaml")))
TEST = len(list(ROOT.glob("data/workflows/test/*.yaml")))


def jobs(said: str) -> Counter[str]:
    """Return how many jobs of each rule a plan has."""
    table = said.partition("Job stats:")[2].partition("total")[0]
    return Counter({name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)})


def test_a_side_study_runs_by_the_rules_of_the_main_one(plan: Any) -> None:
    """Its workflows, splits and statistics join the build, and heads and check wait for them."""
    main = jobs(plan({}, *MAIN))
    sides = {"dev-small": {**SIDE, "split": "dev"}, "again": {**SIDE, "split": "test"}}

    said = plan(sides, *MAIN, *(f"build/side/{name}/stats/metrics.json" for name in sides), made=DEV_RECORDS)

    more = jobs(said) - main
    assert more == {
        "merge": DEV + TEST,
        "reconstruct": DEV + TEST,
        "shard": DEV + TEST,
        "split": 1,
        "stats": 2,
    }, said
    heads = said.partition("rule heads")[0] + said.partition("Indexing the heads")[2].partition("Job ")[0]
    assert "build/side/dev-small/wire/RB-DB-001.jsonl.zst" in heads


def test_a_side_study_without_records_is_named_by_the_file_it_lacks(plan: Any) -> None:
    """Nothing is recorded behind anyone's back."""
    assert "data/records/gemma3-270m/validation.jsonl.zst" in plan(
        {"later": {**SIDE, "split": "validation"}}, *MAIN
    )


def test_a_side_study_with_an_unknown_key_is_refused_by_the_schema(plan: Any) -> None:
    """A mistyped key is no study."""
    said = plan({"typo": {**SIDE, "split": "dev", "seed": [1]}}, *MAIN)
    assert "side_studies" in said
    assert "seed" in said


def test_seeds_are_shared_out_as_asked(plan: Any) -> None:
    """More parts are more shards of the same merged files; there are never more than seeds."""
    assert jobs(plan({}, "--config", "parts=3", "--", *MAIN))["shard"] == 3 * TEST
    assert jobs(plan({}, "--config", "parts=99", "--", *MAIN))["shard"] == 5 * TEST


def test_the_snakefile_lists_the_targets_that_there_are() -> None:
    """Its first lines name each rule that is a target of its own, and the rules under workflow/ have them all."""
    text = (ROOT / "Snakefile").read_text()
    head = re.findall(r"\w+", re.sub(r"\(.*?\)", "", text.partition("# Targets: ")[2].partition(".")[0]))
    local = re.findall(r"^    (\w+),$", text.partition("localrules:")[2].partition("\n\n\n")[0], re.MULTILINE)
    rules = "".join(path.read_text() for path in (ROOT / "Snakefile", *ROOT.glob("workflow/rules/*.smk")))
    made = re.findall(r"^rule (\w+):", rules, re.MULTILINE)
    assert sorted(head) == sorted(local)
    assert set(local) <= set(made)
