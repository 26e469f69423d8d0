"""Figures U3 and U4 of the undo part: where trust ends, and two stories with equal values and different ends."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from undolab.report.style import FULL, GREY, MM, colours
from undolab.undo.policies.resource import Resource
from undolab.undo.scenes.scenes import SCENES, STORE, play, shown

_GOES, _STANDS = "status goes back to open", "status stays triage"


def boundary() -> Figure:
    """Draw the trust boundary: what an agent may say, what the host fixes, and the one transaction behind them."""
    figure = Figure(figsize=(FULL, 62 * MM))
    ax = _canvas(figure)
    blue, orange, green = colours(3)
    _frame(ax, 0.28, 0.05, 0.71, 0.9, "trusted: the host's machine")
    _frame(ax, 0.595, 0.11, 0.375, 0.66, "one transaction (SQLite, synced)")
    _box(ax, 0.01, 0.5, 0.19, 0.3, "Agent\n(not trusted)\n\nsays a receipt's id", orange)
    _box(
        ax,
        0.3,
        0.46,
        0.25,
        0.38,
        "MCP server\n\nrun, principal and tenant\nfixed at its start; reads first\nwithout the write lock",
        blue,
    )
    _box(ax, 0.3, 0.11, 0.25, 0.26, "Host program\n\nwrites effects and peers' events", blue)
    _box(ax, 0.62, 0.5, 0.15, 0.2, "check again:\nscope, permission,\nexpiry, approval", green)
    _box(ax, 0.8, 0.5, 0.15, 0.2, "kernel (pure):\nwhose entry\nstands now?", green)
    _box(ax, 0.62, 0.16, 0.15, 0.22, "rows with\ntheir writers:\nonly its own go", green)
    _box(ax, 0.8, 0.16, 0.15, 0.22, "outcome and\nhash-chained\naudit row", green)
    _arrow(ax, (0.2, 0.7), (0.3, 0.7))
    _arrow(ax, (0.3, 0.6), (0.2, 0.6))
    _arrow(ax, (0.55, 0.6), (0.62, 0.6))
    _arrow(ax, (0.77, 0.6), (0.8, 0.6))
    _arrow(ax, (0.82, 0.5), (0.73, 0.38))
    _arrow(ax, (0.87, 0.5), (0.87, 0.38))
    _arrow(ax, (0.55, 0.25), (0.62, 0.25))
    ax.text(0.24, 0.73, "request", ha="center", fontsize=6.5)
    ax.text(0.24, 0.555, "outcome", ha="center", fontsize=6.5)
    return figure


def timelines() -> Figure:
    """Draw two stories, played on the store: the same values at the end, and two different things that are right."""
    same = play(SCENES["same-value"])
    alone = play(same.scene._replace(steps=same.scene.steps[:1]))
    figure = Figure(figsize=(FULL, 62 * MM))
    ax = _canvas(figure)
    shades = colours(3)
    stories = (
        (0.72, "Nobody else", alone.states, ("at the start", "agent writes"), alone, _GOES),
        (
            0.26,
            "A colleague, too",
            same.states,
            ("at the start", "agent writes", "colleague writes"),
            same,
            _STANDS,
        ),
    )
    for height, title, states, words, played, due in stories:
        ax.text(0.01, height + 0.17, title, fontweight="bold")
        ax.plot([0.03, 0.97], [height, height], color=GREY, linewidth=0.8, zorder=1)
        for place, (state, word) in enumerate(zip(states, words, strict=True)):
            x = 0.09 + 0.19 * place
            ax.plot([x], [height], marker="o", markersize=6, color=shades[place], zorder=3)
            ax.text(x, height + 0.05, word, ha="center")
            ax.text(x, height - 0.05, _status(state), ha="center", va="top", fontsize=6.5)
        ax.plot([0.66], [height], marker="D", markersize=6, color="black", zorder=3)
        ax.text(0.66, height + 0.05, "agent: take it back", ha="center")
        seen = _status(states[-1]).partition("\n")[0]
        ax.text(0.66, height - 0.05, f"what shows: {seen}", ha="center", va="top", fontsize=6.5)
        outcome = next(line for line in played.lines if line.policy == STORE).answers[0][1]
        ax.text(0.87, height + 0.05, f"right: {due}", ha="center")
        ax.text(0.87, height - 0.05, f"the store says {outcome}", ha="center", va="top", fontsize=6.5)
    return figure


def _status(state: Resource | None) -> str:
    seen = shown(state)
    assert seen is not None  # noqa: S101 - the ticket is there all the time
    writer = {
        "host": "there from the start",
        "agent": "written by the agent",
        "peer": "written by the colleague",
    }
    return f"status = {seen['status']}\n{writer[seen['writer']]}"


def _canvas(figure: Figure) -> Axes:
    ax: Axes = figure.subplots()
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.axis("off")
    return ax


def _box(
    ax: Axes, x: float, y: float, wide: float, high: float, text: str, colour: tuple[float, ...]
) -> None:
    shade = (*colour, 0.18)
    ax.add_patch(
        FancyBboxPatch(
            (x, y), wide, high, boxstyle="round,pad=0,rounding_size=0.012", facecolor=shade, edgecolor=colour
        )
    )
    ax.text(x + wide / 2, y + high / 2, text, ha="center", va="center")


def _frame(ax: Axes, x: float, y: float, wide: float, high: float, text: str) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (x, y), wide, high, boxstyle="round,pad=0,rounding_size=0.012", facecolor="none", edgecolor=GREY,
            linestyle="--",
        )
    )  # fmt: skip
    ax.text(x + 0.01, y + high - 0.015, text, va="top", fontsize=6.5, color=GREY)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": GREY, "linewidth": 0.9})
