"""The incident desk: incidents and their notes."""

from undolab.model.workflow import Row
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

INCIDENTS = Table(
    "incidents",
    "incident",
    {"incident_id": str, "title": str, "severity": str, "status": str, "sla_tier": str, "team": str},
)
NOTES = Table("incident_notes", "note", {"note_id": str, "incident_id": str, "note": str}, prefix="note")
TABLES = (INCIDENTS, NOTES)


def get_incident(tx: Tx, args: Row) -> Row:
    """Answer one incident."""
    return tx.get(INCIDENTS, args["incident_id"])


def list_incident_notes(tx: Tx, args: Row) -> Row:
    """Answer the notes of one incident."""
    return {"items": tx.where(NOTES, "incident_id", args["incident_id"])}


def escalate_incident_sla(tx: Tx, args: Row) -> Row:
    """Set the service level and mark the incident as escalated."""
    incident = tx.get(INCIDENTS, args["incident_id"])
    return tx.change(INCIDENTS, incident, sla_tier=args["tier"], status="ESCALATED")


def assign_incident_team(tx: Tx, args: Row) -> Row:
    """Set the team."""
    return tx.change(INCIDENTS, tx.get(INCIDENTS, args["incident_id"]), team=args["team_name"])


def set_incident_severity(tx: Tx, args: Row) -> Row:
    """Set the severity."""
    return tx.change(INCIDENTS, tx.get(INCIDENTS, args["incident_id"]), severity=args["severity"])


def add_incident_note(tx: Tx, args: Row) -> Row:
    """Append a note."""
    incident = tx.get(INCIDENTS, args["incident_id"])
    return tx.append(NOTES, incident_id=incident["incident_id"], note=args["note"])


def resolve_incident(tx: Tx, args: Row) -> Row:
    """Mark the incident as resolved."""
    return tx.change(INCIDENTS, tx.get(INCIDENTS, args["incident_id"]), status="RESOLVED")


HANDLERS: dict[str, Handler] = {
    "get_incident": get_incident,
    "list_incident_notes": list_incident_notes,
    "escalate_incident_sla": escalate_incident_sla,
    "assign_incident_team": assign_incident_team,
    "set_incident_severity": set_incident_severity,
    "add_incident_note": add_incident_note,
    "resolve_incident": resolve_incident,
}
