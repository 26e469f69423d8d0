"""The company's database: accounts, customers, orders and stock, audit records, schema migrations."""

from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

ACCOUNTS = Table("accounts", "account", {"account_id": str, "name": str, "balance": int, "status": str})
AUDIT = Table(
    "audit_records",
    "audit record",
    {"audit_id": str, "entity_id": str, "action": str, "details": str},
    prefix="aud",
)
SCHEMAS = Table("schemas", "schema", {"schema": str, "version": int})
MIGRATIONS = Table(
    "schema_migrations", "migration", {"migration_id": str, "schema": str, "version": int, "status": str}
)
CUSTOMERS = Table("customers", "customer", {"customer_id": str, "name": str, "tier": str, "credits": int})
ORDERS = Table("orders", "order", {"order_id": str, "customer_id": str, "amount": int, "status": str})
INVENTORY = Table("inventory", "item", {"item_id": str, "quantity": int})
TABLES = (ACCOUNTS, AUDIT, SCHEMAS, MIGRATIONS, CUSTOMERS, ORDERS, INVENTORY)


def get_account(tx: Tx, args: Row) -> Row:
    """Answer one account."""
    return tx.get(ACCOUNTS, args["account_id"])


def list_audit_records(tx: Tx, args: Row) -> Row:
    """Answer the audit records of one entity."""
    return {"items": tx.where(AUDIT, "entity_id", args["entity_id"])}


def get_schema(tx: Tx, args: Row) -> Row:
    """Answer one schema with its version."""
    return tx.get(SCHEMAS, args["schema"])


def allocate_dividend(tx: Tx, args: Row) -> Row:
    """Add a dividend to a balance."""
    account = tx.get(ACCOUNTS, args["account_id"])
    return tx.change(ACCOUNTS, account, balance=account["balance"] + args["dividend"])


def credit_account_balance(tx: Tx, args: Row) -> Row:
    """Add to a balance."""
    account = tx.get(ACCOUNTS, args["account_id"])
    return tx.change(ACCOUNTS, account, balance=account["balance"] + args["amount"])


def deduct_account_balance(tx: Tx, args: Row) -> Row:
    """Take from a balance, never below nought."""
    account = tx.get(ACCOUNTS, args["account_id"])
    balance, amount = account["balance"], args["amount"]
    if balance < amount:
        raise ToolError("insufficient", f"account {args['account_id']} has {balance}, needs {amount}")
    return tx.change(ACCOUNTS, account, balance=balance - amount)


def freeze_account(tx: Tx, args: Row) -> Row:
    """Mark an account as frozen."""
    return tx.change(ACCOUNTS, tx.get(ACCOUNTS, args["account_id"]), status="FROZEN")


def write_audit_record(tx: Tx, args: Row) -> Row:
    """Append an audit record."""
    return tx.append(AUDIT, entity_id=args["entity_id"], action=args["action"], details=args["details"])


def apply_schema_migration(tx: Tx, args: Row) -> Iterator[Row]:
    """Note the migration, then raise the schema's version: two commits."""
    schema, version = args["schema"], args["version"]
    row = tx.get(SCHEMAS, schema)
    migration = f"{schema}-{version}"
    if tx.find(MIGRATIONS, migration):
        raise ToolError("already_exists", f"migration {version} of {schema} is already applied")
    if version != row["version"] + 1:
        raise ToolError("conflict", f"schema {schema} is at version {row['version']}, cannot go to {version}")
    yield tx.put(
        MIGRATIONS, {"migration_id": migration, "schema": schema, "version": version, "status": "APPLIED"}
    )
    tx.change(SCHEMAS, row, version=version)


def revert_schema_migration(tx: Tx, args: Row) -> Row:
    """Lower the schema's version and take the migration away."""
    row = tx.get(SCHEMAS, args["schema"])
    migration = tx.get(MIGRATIONS, f"{args['schema']}-{args['version']}")
    new = tx.change(SCHEMAS, row, version=args["version"] - 1)
    tx.remove(MIGRATIONS, migration["migration_id"])
    return new


def get_customer(tx: Tx, args: Row) -> Row:
    """Answer one customer."""
    return tx.get(CUSTOMERS, args["customer_id"])


def get_order(tx: Tx, args: Row) -> Row:
    """Answer one order."""
    return tx.get(ORDERS, args["order_id"])


def list_orders(tx: Tx, args: Row) -> Row:
    """Answer the orders of one customer."""
    return {"items": tx.where(ORDERS, "customer_id", args["customer_id"])}


def get_inventory_item(tx: Tx, args: Row) -> Row:
    """Answer one item of the stock."""
    return tx.get(INVENTORY, args["item_id"])


def unfreeze_account(tx: Tx, args: Row) -> Row:
    """Mark an account as active."""
    return tx.change(ACCOUNTS, tx.get(ACCOUNTS, args["account_id"]), status="ACTIVE")


def upgrade_customer_tier(tx: Tx, args: Row) -> Row:
    """Set a tier, and answer the old one too."""
    customer = tx.get(CUSTOMERS, args["customer_id"])
    return {**tx.change(CUSTOMERS, customer, tier=args["new_tier"]), "old_tier": customer["tier"]}


def create_order(tx: Tx, args: Row) -> Row:
    """Write an order under the caller's id, once."""
    tx.get(CUSTOMERS, args["customer_id"])
    if tx.find(ORDERS, args["order_id"]) is not None:
        raise ToolError("already_exists", f"order {args['order_id']} already exists")
    return tx.put(ORDERS, {column: args[column] for column in ORDERS.columns})


def cancel_order(tx: Tx, args: Row) -> Row:
    """Mark an order as cancelled."""
    return tx.change(ORDERS, tx.get(ORDERS, args["order_id"]), status="CANCELLED")


def reserve_inventory(tx: Tx, args: Row) -> Row:
    """Take pieces from the stock, never below nought."""
    item = tx.get(INVENTORY, args["item_id"])
    stock, quantity = item["quantity"], args["quantity"]
    if stock < quantity:
        raise ToolError("insufficient", f"item {args['item_id']} has {stock}, needs {quantity}")
    return tx.change(INVENTORY, item, quantity=stock - quantity)


def release_inventory(tx: Tx, args: Row) -> Row:
    """Put pieces back into the stock."""
    item = tx.get(INVENTORY, args["item_id"])
    return tx.change(INVENTORY, item, quantity=item["quantity"] + args["quantity"])


HANDLERS: dict[str, Handler] = {
    "get_account": get_account,
    "list_audit_records": list_audit_records,
    "get_schema": get_schema,
    "allocate_dividend": allocate_dividend,
    "credit_account_balance": credit_account_balance,
    "deduct_account_balance": deduct_account_balance,
    "freeze_account": freeze_account,
    "write_audit_record": write_audit_record,
    "apply_schema_migration": apply_schema_migration,
    "revert_schema_migration": revert_schema_migration,
    "get_customer": get_customer,
    "get_order": get_order,
    "list_orders": list_orders,
    "get_inventory_item": get_inventory_item,
    "unfreeze_account": unfreeze_account,
    "upgrade_customer_tier": upgrade_customer_tier,
    "create_order": create_order,
    "cancel_order": cancel_order,
    "reserve_inventory": reserve_inventory,
    "release_inventory": release_inventory,
}
