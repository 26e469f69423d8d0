"""The incident desk: incidents with their notes, pages and notices."""

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

INCIDENTS = Table(
    "incidents",
    "incident",
    {"incident_id": str, "title": str, "severity": str, "status": str, "sla_tier": str, "team": str},
)
NOTES = Table("incident_notes", "note", {"note_id": str, "incident_id": str, "note": str}, prefix="note")
PAGES = Table(
    "oncall_pages",
    "on-call page",
    {"page_id": str, "incident_id": str, "oncall_engineer": str, "urgency": str},
    prefix="opg",
)
NOTICES = Table(
    "resolution_notices",
    "notice",
    {"notice_id": str, "incident_id": str, "customer_email": str},
    prefix="rno",
)
TABLES = (INCIDENTS, NOTES, PAGES, NOTICES)


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


def list_resolution_notices(tx: Tx, args: Row) -> Row:
    """Answer the notices about one incident."""
    return {"items": tx.where(NOTICES, "incident_id", args["incident_id"])}


def update_incident_status(tx: Tx, args: Row) -> Row:
    """Set severity and status, and answer the old ones too."""
    old = tx.get(INCIDENTS, args["incident_id"])
    new = tx.change(INCIDENTS, old, severity=args["new_severity"], status=args["new_status"])
    return {**new, "previous_severity": old["severity"], "previous_status": old["status"]}


def revert_incident_sla(tx: Tx, args: Row) -> Row:
    """Set the service level and the status."""
    incident = tx.get(INCIDENTS, args["incident_id"])
    return tx.change(INCIDENTS, incident, sla_tier=args["tier"], status=args["status"])


def reopen_incident(tx: Tx, args: Row) -> Row:
    """Mark the incident as open."""
    return tx.change(INCIDENTS, tx.get(INCIDENTS, args["incident_id"]), status="OPEN")


def dispatch_oncall_page(tx: Tx, args: Row) -> Row:
    """Append a page; no reader shows it."""
    incident = tx.get(INCIDENTS, args["incident_id"])["incident_id"]
    return tx.append(
        PAGES, incident_id=incident, oncall_engineer=args["oncall_engineer"], urgency=args["urgency"]
    )


def dispatch_resolution_notice(tx: Tx, args: Row) -> Row:
    """Append a notice about an incident that is resolved."""
    incident = tx.get(INCIDENTS, args["incident_id"])
    if incident["status"] != "RESOLVED":
        raise ToolError("precondition_failed", f"incident {args['incident_id']} is {incident['status']}")
    return tx.append(NOTICES, incident_id=args["incident_id"], customer_email=args["customer_email"])


HANDLERS: dict[str, Handler] = {
    "get_incident": get_incident,
    "list_incident_notes": list_incident_notes,
    "escalate_incident_sla": escalate_incident_sla,
    "assign_incident_team": assign_incident_team,
    "set_incident_severity": set_incident_severity,
    "add_incident_note": add_incident_note,
    "resolve_incident": resolve_incident,
    "list_resolution_notices": list_resolution_notices,
    "update_incident_status": update_incident_status,
    "revert_incident_sla": revert_incident_sla,
    "reopen_incident": reopen_incident,
    "dispatch_oncall_page": dispatch_oncall_page,
    "dispatch_resolution_notice": dispatch_resolution_notice,
}
