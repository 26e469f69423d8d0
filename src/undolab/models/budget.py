"""What asking a service costs, before it is asked and while it is."""

import math

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.record import ChatAnswer, ChatRequest, CompletionRequest
from undolab.models.answer import Trouble
from undolab.models.config import Price

_CHARACTERS_A_TOKEN = 3
"""For plans only."""
_MILLION = 1_000_000


class BudgetError(UndolabError):
    """The next call could cost more than is left."""


class Purse:
    """What one command may spend, on all of its models together.

    Args:
        limit: US dollars, or None.

    Raises:
        UndolabError: the limit is no amount of money.
    """

    def __init__(self, limit: float | None = None) -> None:
        if limit is not None and not 0 <= limit < math.inf:
            raise UndolabError(f"--max-usd {limit:g} is no amount of money; give dollars from 0")
        self.limit = limit
        self.spent = 0.0
        """US dollars. An attempt that brought no answer counts as if it had been the longest: it may have been billed."""


class Budget:
    """Counts what is spent on a model, and stops before the purse's limit is passed.

    Args:
        price: of the model; None: nothing is counted.
        purse: what it is paid from.

    Raises:
        UndolabError: there is a limit but no price.
    """

    def __init__(self, price: Price | None, purse: Purse | None = None) -> None:
        self._price = price
        self._purse = purse or Purse()
        if self._purse.limit is not None and price is None:
            raise UndolabError(
                "a limit in dollars needs the model's `price` in config/models.yaml; add it, or drop --max-usd"
            )

    @property
    def spent(self) -> float:
        """US dollars that left the purse, for this model or another one."""
        return self._purse.spent

    def allow(self, request: CompletionRequest | ChatRequest) -> None:
        """Raise `BudgetError` if this request could pass the limit."""
        limit = self._purse.limit
        if limit is not None and self.spent + self.cost(*estimate(request)) > limit:
            raise BudgetError(
                f"stopped at {self.spent:.4f} of {limit:.4f} dollars: the next call could pass the limit; "
                "the same command with a higher --max-usd goes on from here"
            )

    def count(self, request: CompletionRequest | ChatRequest, found: ChatAnswer | Trouble) -> None:
        """Add what an attempt cost."""
        if isinstance(found, ChatAnswer) and found.prompt_tokens:
            self._purse.spent += self.cost(found.prompt_tokens, found.completion_tokens)
        else:
            self._purse.spent += self.cost(*estimate(request))

    def cost(self, prompt: int, completion: int) -> float:
        """Return the dollars for so many tokens; 0 without a price."""
        if self._price is None:
            return 0.0
        return (prompt * self._price.prompt + completion * self._price.completion) / _MILLION


def estimate(request: CompletionRequest | ChatRequest) -> tuple[int, int]:
    """Return about how many tokens a request has, and the most that its answer may have."""
    return len(canonical(request)) // _CHARACTERS_A_TOKEN, request.sampling.max_tokens
