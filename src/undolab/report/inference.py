"""stub"""
from pathlib import Path
from undolab.report.sheet import Sheet


def sheets(stats_dir: Path) -> list[Sheet]:
    return []
