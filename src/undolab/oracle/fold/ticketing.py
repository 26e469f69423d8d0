"""The ticketing domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Store, Table

TABLES = {
    "incidents": Table("incident", ("incident_id",)),
    "incident_notes": Table("note", ("note_id",), "note"),
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


HANDLERS: dict[str, Handler] = {
    "get_incident": _get_incident,
    "list_incident_notes": _list_incident_notes,
    "escalate_incident_sla": _escalate_incident_sla,
    "assign_incident_team": _assign_incident_team,
    "set_incident_severity": _set_incident_severity,
    "add_incident_note": _add_incident_note,
    "resolve_incident": _resolve_incident,
}
