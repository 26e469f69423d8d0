"""Files of counts: what is read, and that every problem is named with its row and column."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.errors import UndolabError
from undolab.stats.counts import CountRow, read_counts

_HEAD = "task,model,method,n,d,r"


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Return a writer of one file."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "counts.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def problems(path: Path) -> list[str]:
    with pytest.raises(UndolabError) as caught:
        read_counts(path)
    return str(caught.value).splitlines()[1:]


def test_a_plain_file(save: Callable[..., Path]) -> None:
    """Without optional columns f is r, and duplicates and losses are 0."""
    found = read_counts(save(f"{_HEAD}\nT1,M,B0,4,3,2\n"))
    assert found.rows == [CountRow("T1", "M", "B0", 4, 3, 2, 2, 0, 0)]
    assert found.given == frozenset()


def test_a_spreadsheets_file(save: Callable[..., Path]) -> None:
    """A byte order mark, CRLF, quotes, spaces, capitals, blank rows and the columns source and mark change nothing."""
    text = (
        "\ufeffMark, Task ,model,method,n,d,r,f,dup,miss,source\r\n\r\n"
        'x,"a, ""b""",M, B0 ,10, 5 ,2,3,1,0,"p. 1,\r\nleft"\r\n,,,,,,,,,,\r\n'
    )
    found = read_counts(save(text))
    assert found.rows == [CountRow('a, "b"', "M", "B0", 10, 5, 2, 3, 1, 0)]
    assert found.given == {"f", "dup", "miss"}


def test_every_problem_of_a_file_at_once(save: Callable[..., Path]) -> None:
    """Each wrong field is named once, with the row and the column that a person must look at."""
    rows = [
        "T1,M,B0,10,11,3,3,0,0",
        "T1,M,B0,10,5,6,x,0,0",
        "T2,M,B0,-1,5.5,,0,0,0",
        ",M,B0,1,1,1,1,0,0",
        "T3,M,B0,10,5,4,4,0",
        "T4,M,B0,10,5,4,4,0,0,9",
        "T5,M,B0,10,5,4,3,11,12",
        "T6,M,B0,10,5,4,10,0,0",
        "T7,M,B0,1e3,\uff11\uff10,1_0,+1,0,99999999999999999999",
    ]
    assert problems(save("\n".join([f"{_HEAD},f,dup,miss", *rows]))) == [
        "row 2, column d: 11 is more than n = 10",
        "row 3, column f: 'x' is no whole number from 0 to 10^12",
        "row 3, column r: 6 is more than d = 5",
        "row 3, columns task, model, method: the same as in row 2",
        "row 4, column n: '-1' is no whole number from 0 to 10^12",
        "row 4, column d: '5.5' is no whole number from 0 to 10^12",
        "row 4, column r: '' is no whole number from 0 to 10^12",
        "row 5, column task: is empty",
        "row 6, column miss: the row has 8 fields, the first row 9",
        "row 7, column 10: the row has 10 fields, the first row 9",
        "row 8, column dup: 11 is more than n = 10",
        "row 8, column miss: 12 is more than n = 10",
        "row 9, column f: f - r = 6 is more than n - d = 5",
        "row 10, column n: '1e3' is no whole number from 0 to 10^12",
        "row 10, column d: '\uff11\uff10' is no whole number from 0 to 10^12",
        "row 10, column r: '1_0' is no whole number from 0 to 10^12",
        "row 10, column f: '+1' is no whole number from 0 to 10^12",
        "row 10, column miss: '99999999999999999999' is no whole number from 0 to 10^12",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("task,model,n,d\n", "row 1, column method: is missing"),
        (f"{_HEAD},r\n", "row 1, column r: is there twice"),
        (f"{_HEAD},dups\n", "row 1, column dups: is not one of task, model,"),
        (f"{_HEAD},\n", "row 1, column 7: is not one of task, model,"),
        ("task;model;method;n;d;r\nA;M;B;1;1;1\n", "row 1: the columns are not separated by commas"),
        (f"{_HEAD}\n", "row 1: there is no row of counts below"),
        (f'{_HEAD}\n"A,M,B,1,1,1\n', "row 2: unexpected end of data"),
        (f'{_HEAD}\n"A"x,M,B,1,1,1\n', "row 2: ',' expected after"),
        (f'{_HEAD}\n"A\nB",M,B,1,1,1\n', "row 2, column task: is no printable text"),
        (f"{_HEAD}\nA,M,B,1,1,1\nA,M,B,1,1,1\n", "row 3, columns task, model, method: the same as in row 2"),
        (f"{_HEAD}\n" + "".join(f"T{i},M,B,1,1,1\n" for i in range(2001)), "column task: 2001 tasks"),
    ],
)
def test_a_file_of_the_wrong_shape(save: Callable[..., Path], text: str, problem: str) -> None:
    """What is wrong with the file as a whole is named as well."""
    assert problem in problems(save(text))[0]


def test_empty_and_foreign_files_are_one_sentence(save: Callable[..., Path]) -> None:
    """An empty file and one in another encoding say what to do."""
    for data, word in (
        (b"", "is empty"),
        (b"\xef\xbb\xbf\r\n\r\n", "is empty"),
        (b"\xff\xfet\x00", "not UTF-8"),
    ):
        with pytest.raises(UndolabError, match=word):
            read_counts(save(data))


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: f"{_HEAD}\n{text}".encode()))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever the file holds, it gives rows with ordered counts or an error for people, never a traceback."""
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    try:
        rows = read_counts(path).rows
    except UndolabError:
        return
    assert all(row.n >= row.d >= row.r >= 0 for row in rows)
