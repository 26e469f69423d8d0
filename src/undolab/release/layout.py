"""Which paths are covered, rebuilt and frozen: one place, so that the lists cannot drift apart."""

MANIFEST = "manifest.sha256"

COVERED_FOLDERS = ("config", "data", "demo", "docs/protocol", "paper", "results", "workflow")
"""Every file below these is covered; a file here that the manifest does not name is an extra one."""
COVERED_PATTERNS = ("Snakefile", "envs/*.lock")
"""Single files, relative to the root."""
IGNORED_NAMES = frozenset({"__pycache__"})
"""Folders that running the code leaves behind."""

BUILT_FOLDERS = (
    "conformance",
    "figures",
    "ledger",
    "metadata",
    "pairs",
    "published",
    "side",
    "stats",
    "tables",
    "trials",
    "undo",
    "validity",
    "verdicts",
    "wire",
)
"""`build/<folder>/…` is released as `results/<folder>/…`."""
OPTIONAL_FOLDERS = frozenset({"side"})
"""Those of `BUILT_FOLDERS` that a build may lack: there are side studies only where the configuration has some."""
BUILT_FILES = ("demo/index.html", "paper/paper.pdf")
"""`build/<path>` is released as `<path>`."""
PAPER = "paper/paper.pdf"
TEX_STATUS = ".tools/texbundle.status"
"""Holds `locked` where the TeX bundle is the one of `envs/tex.lock`, so that PDF bytes may be compared."""

SPLITS = ("dev", "validation", "test")
RESEARCH_PLAN = "docs/protocol/research-plan.md"
FROZEN_PATTERNS = (
    "config/config.yaml",
    "config/models.yaml",
    "data/prompts/**/*",
    "data/tools/**/*",
    RESEARCH_PLAN,
)
"""Frozen for every split, next to the workflow files of the split itself."""
FROZEN_ROOMS = ("agents", "faults", "models", "oracle", "recovery", "stats", "world")
"""Rooms whose source digests are recorded with a freeze."""


def released_path(built: str) -> str:
    """Return where `build/<built>` is released, relative to the root."""
    return built if built in BUILT_FILES else f"results/{built}"


def built_path(released: str) -> str | None:
    """Return the path below `build/` that a released file is made from, or None for an input."""
    if released in BUILT_FILES:
        return released
    folder, _, rest = released.partition("/")
    return rest if folder == "results" and rest.split("/")[0] in BUILT_FOLDERS else None
