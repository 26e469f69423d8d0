"""What Snakemake tells of a run becomes jobs in an order that could have run."""

import pytest

from undolab.model.errors import UndolabError
from undolab.release.jobs import Job, parse

HEAD = "output_file\tdate\trule\tlog-file(s)\tinput-file(s)\tshellcmd\tstatus\tplan\n"
ROWS = (
    "build/stats/m.csv\tMon\tstats\tl2\tbuild/trials/a.jsonl,config.yaml\tundolab stats | tee l2\tok\tno update\n"
    "build/trials/b.jsonl\tMon\ttrials\tl1\tconfig.yaml\tundolab trials | tee l1\tok\tno update\n"
    "build/trials/a.jsonl\tMon\ttrials\tl1\tconfig.yaml\tundolab trials | tee l1\tok\tno update\n"
)


def test_files_of_one_execution_are_one_job_and_makers_come_first() -> None:
    """Two outputs of one command are one job; the job that reads one of them follows it."""
    assert parse(HEAD + ROWS) == [
        Job(
            rule="trials",
            command="undolab trials | tee l1",
            inputs=["config.yaml"],
            outputs=["build/trials/a.jsonl", "build/trials/b.jsonl"],
        ),
        Job(
            rule="stats",
            command="undolab stats | tee l2",
            inputs=["build/trials/a.jsonl", "config.yaml"],
            outputs=["build/stats/m.csv"],
        ),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            HEAD + ROWS.replace("ok\tno update", "missing\tupdate pending", 1),
            "m.csv is not the outcome of a finished run",
        ),
        (HEAD + ROWS.replace("undolab stats | tee l2", "-"), "m.csv is not the outcome of a finished run"),
        ("nothing\n", "another form"),
        (HEAD, "another form"),
    ],
)
def test_what_is_no_finished_run_is_refused(text: str, words: str) -> None:
    """A file that is behind its inputs, or of which nobody knows how it was made, is no provenance."""
    with pytest.raises(UndolabError, match=words):
        parse(text)
