"""The ticketing domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "incidents": Table("incident", ("incident_id",)),
    "incident_notes": Table("note", ("note_id",), "note"),
    "oncall_pages": Table("on-call page", ("page_id",), "opg"),
    "resolution_notices": Table("notice", ("notice_id",), "rno"),
}


def _get_incident(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("incidents", args["incident_id"])


def _list_incident_notes(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("incident_notes", incident_id=args["incident_id"])


def _set(store: Store, incident_id: str, **columns: str) -> dict[str, Any]:
    store.need("incidents", incident_id)
    return store.change("incidents", incident_id, **columns)


def _escalate_incident_sla(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _set(store, args["incident_id"], sla_tier=args["tier"], status="ESCALATED")


def _assign_incident_team(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _set(store, args["incident_id"], team=args["team_name"])


def _set_incident_severity(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _set(store, args["incident_id"], severity=args["severity"])


def _resolve_incident(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _set(store, args["incident_id"], status="RESOLVED")


def _add_incident_note(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("incidents", args["incident_id"])
    return store.append("incident_notes", incident_id=args["incident_id"], note=args["note"])


def _list_resolution_notices(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("resolution_notices", incident_id=args["incident_id"])


def _update_incident_status(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    before = store.need("incidents", args["incident_id"])
    row = _set(store, args["incident_id"], severity=args["new_severity"], status=args["new_status"])
    return {**row, "previous_severity": before["severity"], "previous_status": before["status"]}


def _revert_incident_sla(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _set(store, args["incident_id"], sla_tier=args["tier"], status=args["status"])


def _reopen_incident(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _set(store, args["incident_id"], status="OPEN")


def _dispatch_oncall_page(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("incidents", args["incident_id"])
    return store.append(
        "oncall_pages",
        incident_id=args["incident_id"],
        oncall_engineer=args["oncall_engineer"],
        urgency=args["urgency"],
    )


def _dispatch_resolution_notice(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    incident = args["incident_id"]
    status = store.need("incidents", incident)["status"]
    if status != "RESOLVED":
        raise Refused("precondition_failed", f"incident {incident} is {status}")
    return store.append("resolution_notices", incident_id=incident, customer_email=args["customer_email"])


HANDLERS: dict[str, Handler] = {
    "get_incident": _get_incident,
    "list_incident_notes": _list_incident_notes,
    "escalate_incident_sla": _escalate_incident_sla,
    "assign_incident_team": _assign_incident_team,
    "set_incident_severity": _set_incident_severity,
    "add_incident_note": _add_incident_note,
    "resolve_incident": _resolve_incident,
    "list_resolution_notices": _list_resolution_notices,
    "update_incident_status": _update_incident_status,
    "revert_incident_sla": _revert_incident_sla,
    "reopen_incident": _reopen_incident,
    "dispatch_oncall_page": _dispatch_oncall_page,
    "dispatch_resolution_notice": _dispatch_resolution_notice,
}
