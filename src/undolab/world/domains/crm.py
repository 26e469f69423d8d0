"""The customer desk: customer accounts with their notes and merges, leads, opportunities, quotas."""

from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

ACCOUNTS = Table(
    "crm_accounts", "customer account", {"account_id": str, "name": str, "status": str, "sla_tier": str}
)
NOTES = Table("crm_notes", "note", {"note_id": str, "account_id": str, "note": str}, prefix="cnote")
MERGES = Table("crm_merges", "account merge", {"secondary_id": str, "primary_id": str})
LEADS = Table("leads", "lead", {"lead_id": str, "name": str, "status": str})
WELCOME = Table(
    "welcome_events",
    "welcome event",
    {"event_id": str, "lead_id": str, "template": str, "status": str},
    prefix="wel",
)
OPPORTUNITIES = Table(
    "opportunities", "opportunity", {"opp_id": str, "rep_id": str, "stage": str, "deal_value": int}
)
QUOTAS = Table("rep_quotas", "sales representative", {"rep_id": str, "quota": int})
TABLES = (ACCOUNTS, NOTES, MERGES, LEADS, WELCOME, OPPORTUNITIES, QUOTAS)


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


def reactivate_crm_account(tx: Tx, args: Row) -> Row:
    """Mark a customer account as active."""
    return tx.change(ACCOUNTS, tx.get(ACCOUNTS, args["account_id"]), status="ACTIVE")


def get_lead(tx: Tx, args: Row) -> Row:
    """Answer one lead."""
    return tx.get(LEADS, args["lead_id"])


def list_welcome_events(tx: Tx, args: Row) -> Row:
    """Answer what is queued for one lead."""
    return {"items": tx.where(WELCOME, "lead_id", args["lead_id"])}


def get_opportunity(tx: Tx, args: Row) -> Row:
    """Answer one opportunity."""
    return tx.get(OPPORTUNITIES, args["opp_id"])


def get_rep_quota(tx: Tx, args: Row) -> Row:
    """Answer the quota of one sales representative."""
    return tx.get(QUOTAS, args["rep_id"])


def get_account_merge(tx: Tx, args: Row) -> Row:
    """Answer into which account one was merged."""
    return tx.get(MERGES, args["secondary_id"])


def convert_lead_status(tx: Tx, args: Row) -> Row:
    """Set the status of a lead, and answer the old one too."""
    lead = tx.get(LEADS, args["lead_id"])
    return {**tx.change(LEADS, lead, status=args["new_status"]), "previous_status": lead["status"]}


def queue_welcome_sequence(tx: Tx, args: Row) -> Row:
    """Append a welcome sequence."""
    lead = tx.get(LEADS, args["lead_id"])["lead_id"]
    return tx.append(WELCOME, lead_id=lead, template=args["template"], status="QUEUED")


def advance_opportunity_stage(tx: Tx, args: Row) -> Row:
    """Set stage and value of an opportunity, and answer the old ones too."""
    old = tx.get(OPPORTUNITIES, args["opp_id"])
    new = tx.change(OPPORTUNITIES, old, stage=args["stage"], deal_value=args["deal_value"])
    return {**new, "previous_stage": old["stage"], "previous_value": old["deal_value"]}


def update_rep_quota(tx: Tx, args: Row) -> Row:
    """Add to a quota."""
    row = tx.get(QUOTAS, args["rep_id"])
    return tx.change(QUOTAS, row, quota=row["quota"] + args["amount"])


def merge_customer_accounts(tx: Tx, args: Row) -> Iterator[Row]:
    """Close the second account, then note into which it went: two commits."""
    primary, secondary = tx.get(ACCOUNTS, args["primary_id"]), tx.get(ACCOUNTS, args["secondary_id"])
    if primary["account_id"] == secondary["account_id"]:
        raise ToolError("conflict", f"customer account {args['primary_id']} cannot be merged into itself")
    yield tx.change(ACCOUNTS, secondary, status="MERGED")
    tx.put(MERGES, {"secondary_id": args["secondary_id"], "primary_id": args["primary_id"]})


def split_customer_accounts(tx: Tx, args: Row) -> Row:
    """Open a merged account, whole or half merged."""
    account = tx.get(ACCOUNTS, args["secondary_id"])
    if account["status"] != "MERGED":
        raise ToolError("conflict", f"customer account {args['secondary_id']} is {account['status']}")
    opened = tx.change(ACCOUNTS, account, status="ACTIVE")
    tx.remove(MERGES, args["secondary_id"])
    return opened


HANDLERS: dict[str, Handler] = {
    "get_crm_account": get_crm_account,
    "list_crm_notes": list_crm_notes,
    "renew_enterprise_sla": renew_enterprise_sla,
    "add_crm_note": add_crm_note,
    "suspend_crm_account": suspend_crm_account,
    "reactivate_crm_account": reactivate_crm_account,
    "get_lead": get_lead,
    "list_welcome_events": list_welcome_events,
    "get_opportunity": get_opportunity,
    "get_rep_quota": get_rep_quota,
    "get_account_merge": get_account_merge,
    "convert_lead_status": convert_lead_status,
    "queue_welcome_sequence": queue_welcome_sequence,
    "advance_opportunity_stage": advance_opportunity_stage,
    "update_rep_quota": update_rep_quota,
    "merge_customer_accounts": merge_customer_accounts,
    "split_customer_accounts": split_customer_accounts,
}
