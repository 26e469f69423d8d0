"""The customer desk: customer accounts and their notes."""

from undolab.model.workflow import Row
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

ACCOUNTS = Table(
    "crm_accounts", "customer account", {"account_id": str, "name": str, "status": str, "sla_tier": str}
)
NOTES = Table("crm_notes", "note", {"note_id": str, "account_id": str, "note": str}, prefix="cnote")
TABLES = (ACCOUNTS, NOTES)


def get_crm_account(tx: Tx, args: Row) -> Row:
    """Answer one customer account."""
    return tx.get(ACCOUNTS, args["account_id"])


def list_crm_notes(tx: Tx, args: Row) -> Row:
    """Answer the notes of one customer account."""
    return {"items": tx.where(NOTES, "account_id", args["account_id"])}


def renew_enterprise_sla(tx: Tx, args: Row) -> Row:
    """Set the support tier."""
    return tx.change(ACCOUNTS, tx.get(ACCOUNTS, args["account_id"]), sla_tier=args["sla_tier"])


def add_crm_note(tx: Tx, args: Row) -> Row:
    """Append a note."""
    account = tx.get(ACCOUNTS, args["account_id"])
    return tx.append(NOTES, account_id=account["account_id"], note=args["note"])


def suspend_crm_account(tx: Tx, args: Row) -> Row:
    """Mark a customer account as suspended."""
    return tx.change(ACCOUNTS, tx.get(ACCOUNTS, args["account_id"]), status="SUSPENDED")


HANDLERS: dict[str, Handler] = {
    "get_crm_account": get_crm_account,
    "list_crm_notes": list_crm_notes,
    "renew_enterprise_sla": renew_enterprise_sla,
    "add_crm_note": add_crm_note,
    "suspend_crm_account": suspend_crm_account,
}
