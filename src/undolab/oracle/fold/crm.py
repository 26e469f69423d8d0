"""The crm domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Store, Table

TABLES = {
    "crm_accounts": Table("customer account", ("account_id",)),
    "crm_notes": Table("note", ("note_id",), "cnote"),
}


def _get_crm_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("crm_accounts", args["account_id"])


def _list_crm_notes(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("crm_notes", account_id=args["account_id"])


def _renew_enterprise_sla(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("crm_accounts", args["account_id"])
    return store.change("crm_accounts", args["account_id"], sla_tier=args["sla_tier"])


def _add_crm_note(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("crm_accounts", args["account_id"])
    return store.append("crm_notes", account_id=args["account_id"], note=args["note"])


def _suspend_crm_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("crm_accounts", args["account_id"])
    return store.change("crm_accounts", args["account_id"], status="SUSPENDED")


HANDLERS: dict[str, Handler] = {
    "get_crm_account": _get_crm_account,
    "list_crm_notes": _list_crm_notes,
    "renew_enterprise_sla": _renew_enterprise_sla,
    "add_crm_note": _add_crm_note,
    "suspend_crm_account": _suspend_crm_account,
}
