"""The crm domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "crm_accounts": Table("customer account", ("account_id",)),
    "crm_notes": Table("note", ("note_id",), "cnote"),
    "crm_merges": Table("account merge", ("secondary_id",)),
    "leads": Table("lead", ("lead_id",)),
    "welcome_events": Table("welcome event", ("event_id",), "wel"),
    "opportunities": Table("opportunity", ("opp_id",)),
    "rep_quotas": Table("sales representative", ("rep_id",)),
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


def _reactivate_crm_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("crm_accounts", args["account_id"])
    return store.change("crm_accounts", args["account_id"], status="ACTIVE")


def _get_lead(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("leads", args["lead_id"])


def _list_welcome_events(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("welcome_events", lead_id=args["lead_id"])


def _get_opportunity(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("opportunities", args["opp_id"])


def _get_rep_quota(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("rep_quotas", args["rep_id"])


def _get_account_merge(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("crm_merges", args["secondary_id"])


def _convert_lead_status(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    before = store.need("leads", args["lead_id"])["status"]
    row = store.change("leads", args["lead_id"], status=args["new_status"])
    return {**row, "previous_status": before}


def _queue_welcome_sequence(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("leads", args["lead_id"])
    return store.append("welcome_events", lead_id=args["lead_id"], template=args["template"], status="QUEUED")


def _advance_opportunity_stage(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    before = store.need("opportunities", args["opp_id"])
    row = store.change("opportunities", args["opp_id"], stage=args["stage"], deal_value=args["deal_value"])
    return {**row, "previous_stage": before["stage"], "previous_value": before["deal_value"]}


def _update_rep_quota(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    quota = store.need("rep_quotas", args["rep_id"])["quota"]
    return store.change("rep_quotas", args["rep_id"], quota=quota + args["amount"])


def _merge_customer_accounts(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    primary, secondary = args["primary_id"], args["secondary_id"]
    store.need("crm_accounts", primary)
    store.need("crm_accounts", secondary)
    if primary == secondary:
        raise Refused("conflict", f"customer account {primary} cannot be merged into itself")
    row = store.change("crm_accounts", secondary, status="MERGED")
    store.next_part()
    store.put("crm_merges", secondary, {"secondary_id": secondary, "primary_id": primary})
    return row


def _split_customer_accounts(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    secondary = args["secondary_id"]
    status = store.need("crm_accounts", secondary)["status"]
    if status != "MERGED":
        raise Refused("conflict", f"customer account {secondary} is {status}")
    row = store.change("crm_accounts", secondary, status="ACTIVE")
    store.remove("crm_merges", secondary)
    return row


HANDLERS: dict[str, Handler] = {
    "get_crm_account": _get_crm_account,
    "list_crm_notes": _list_crm_notes,
    "renew_enterprise_sla": _renew_enterprise_sla,
    "add_crm_note": _add_crm_note,
    "suspend_crm_account": _suspend_crm_account,
    "reactivate_crm_account": _reactivate_crm_account,
    "get_lead": _get_lead,
    "list_welcome_events": _list_welcome_events,
    "get_opportunity": _get_opportunity,
    "get_rep_quota": _get_rep_quota,
    "get_account_merge": _get_account_merge,
    "convert_lead_status": _convert_lead_status,
    "queue_welcome_sequence": _queue_welcome_sequence,
    "advance_opportunity_stage": _advance_opportunity_stage,
    "update_rep_quota": _update_rep_quota,
    "merge_customer_accounts": _merge_customer_accounts,
    "split_customer_accounts": _split_customer_accounts,
}
