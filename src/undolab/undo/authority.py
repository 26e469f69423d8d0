"""Ids and permissions: what a well-formed id is, and what a principal may recover."""

import hashlib
import re
from collections.abc import Iterable
from typing import Literal, get_args

from undolab.model.errors import UndolabError
from undolab.undo.database import Database
from undolab.undo.effects import MAX_NAME, checked_text
from undolab.undo.registry import EFFECTS
from undolab.undo.types import Context, Rejected

Rule = Literal["allow", "approve", "deny"]
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_PART = 200


def known_id(value: object) -> bool:
    """Return True for an id that this store could have given: 1 to 64 letters, digits, dots, dashes, underscores."""
    return type(value) is str and _ID.fullmatch(value) is not None


def label(value: object) -> str:
    """Return an id as the audit writes it: itself, or a short digest where it is malformed, so that no row grows."""
    if known_id(value):
        return str(value)
    text = value if isinstance(value, str) else repr(type(value))
    return "!" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def checked_context(context: Context) -> Context:
    """Return the context if each part is 1 to 200 printable characters.

    Raises:
        UndolabError: one is not; the host gave it, so the host must mend it.
    """
    for name, part in zip(context._fields, context, strict=True):
        if type(part) is not str or not 0 < len(part) <= _PART or not part.isprintable():
            raise UndolabError(
                f"the {name} must be 1 to {_PART} printable characters; give the host's own name for it"
            )
    return context


class Permissions:
    """What each principal may recover: by kind and resource, with `*` for any; nothing unless it is said."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, tenant: str, principal: str, rule: Rule, kind: str, resource: str) -> None:
        """Set one rule.

        Raises:
            UndolabError: there is no such kind, rule or name; a rule that can never match would only seem to protect.
        """
        if kind != "*" and kind not in EFFECTS:
            raise UndolabError(f"there is no kind {kind!r}; say * or one of {', '.join(sorted(EFFECTS))}")
        if rule not in get_args(Rule):
            raise UndolabError(f"there is no rule {rule!r}; say one of {', '.join(get_args(Rule))}")
        try:
            checked_text(resource)
        except Rejected as error:
            raise UndolabError(
                f"no resource can have this name; say * or a name of at most {MAX_NAME} characters"
            ) from error
        self._db.execute(
            "INSERT INTO permissions (tenant, principal, kind, resource, rule) VALUES (?,?,?,?,?) "
            "ON CONFLICT (tenant, principal, kind, resource) DO UPDATE SET rule = excluded.rule",
            (tenant, principal, kind, resource, rule),
        )

    def rule(self, tenant: str, principal: str, kind: str, resources: Iterable[str]) -> Rule:
        """Return the strictest rule that matches any of the resources: deny before approve before allow.

        A resource that no rule matches is denied, and with it an effect on several of them.
        """
        sql = "SELECT rule FROM permissions WHERE tenant = ? AND principal = ? AND kind IN (?, '*') AND resource IN (?, '*')"
        rules: set[Rule] = set()
        for resource in resources:
            found = {row[0] for row in self._db.execute(sql, (tenant, principal, kind, resource))}
            rules |= found or {"deny"}
        if "deny" in rules:
            return "deny"
        return "approve" if "approve" in rules else "allow"
