"""The database domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "accounts": Table("account", ("account_id",)),
    "audit_records": Table("audit record", ("audit_id",), "aud"),
    "schemas": Table("schema", ("schema",)),
    "schema_migrations": Table("migration", ("migration_id",)),
    "customers": Table("customer", ("customer_id",)),
    "orders": Table("order", ("order_id",)),
    "inventory": Table("item", ("item_id",)),
}


def _get_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("accounts", args["account_id"])


def _list_audit_records(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("audit_records", entity_id=args["entity_id"])


def _get_schema(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("schemas", args["schema"])


def _credit(store: Store, account_id: str, amount: int) -> dict[str, Any]:
    account = store.need("accounts", account_id)
    return store.change("accounts", account_id, balance=account["balance"] + amount)


def _allocate_dividend(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _credit(store, args["account_id"], args["dividend"])


def _credit_account_balance(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _credit(store, args["account_id"], args["amount"])


def _deduct_account_balance(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    account_id, amount = args["account_id"], args["amount"]
    balance = store.need("accounts", account_id)["balance"]
    if balance < amount:
        raise Refused("insufficient", f"account {account_id} has {balance}, needs {amount}")
    return _credit(store, account_id, -amount)


def _freeze_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("accounts", args["account_id"])
    return store.change("accounts", args["account_id"], status="FROZEN")


def _write_audit_record(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.append(
        "audit_records", entity_id=args["entity_id"], action=args["action"], details=args["details"]
    )


def _apply_schema_migration(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    schema, version = args["schema"], args["version"]
    current = store.need("schemas", schema)["version"]
    migration = f"{schema}-{version}"
    if store.get("schema_migrations", migration) is not None:
        raise Refused("already_exists", f"migration {version} of {schema} is already applied")
    if version != current + 1:
        raise Refused("conflict", f"schema {schema} is at version {current}, cannot go to {version}")
    row = {"migration_id": migration, "schema": schema, "version": version, "status": "APPLIED"}
    store.put("schema_migrations", migration, row)
    store.next_part()
    store.change("schemas", schema, version=version)
    return row


def _revert_schema_migration(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    schema, version = args["schema"], args["version"]
    migration = f"{schema}-{version}"
    store.need("schemas", schema)
    store.need("schema_migrations", migration)
    row = store.change("schemas", schema, version=version - 1)
    store.remove("schema_migrations", migration)
    return row


def _get_customer(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("customers", args["customer_id"])


def _get_order(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("orders", args["order_id"])


def _list_orders(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("orders", customer_id=args["customer_id"])


def _get_inventory_item(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("inventory", args["item_id"])


def _unfreeze_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("accounts", args["account_id"])
    return store.change("accounts", args["account_id"], status="ACTIVE")


def _upgrade_customer_tier(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    old = store.need("customers", args["customer_id"])["tier"]
    return {**store.change("customers", args["customer_id"], tier=args["new_tier"]), "old_tier": old}


def _create_order(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    order = args["order_id"]
    store.need("customers", args["customer_id"])
    if store.get("orders", order) is not None:
        raise Refused("already_exists", f"order {order} already exists")
    row = {name: args[name] for name in ("order_id", "customer_id", "amount", "status")}
    return store.put("orders", order, row)


def _cancel_order(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("orders", args["order_id"])
    return store.change("orders", args["order_id"], status="CANCELLED")


def _reserve_inventory(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    item, wanted = args["item_id"], args["quantity"]
    there = store.need("inventory", item)["quantity"]
    if there < wanted:
        raise Refused("insufficient", f"item {item} has {there}, needs {wanted}")
    return store.change("inventory", item, quantity=there - wanted)


def _release_inventory(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    there = store.need("inventory", args["item_id"])["quantity"]
    return store.change("inventory", args["item_id"], quantity=there + args["quantity"])


HANDLERS: dict[str, Handler] = {
    "get_account": _get_account,
    "list_audit_records": _list_audit_records,
    "get_schema": _get_schema,
    "allocate_dividend": _allocate_dividend,
    "credit_account_balance": _credit_account_balance,
    "deduct_account_balance": _deduct_account_balance,
    "freeze_account": _freeze_account,
    "write_audit_record": _write_audit_record,
    "apply_schema_migration": _apply_schema_migration,
    "revert_schema_migration": _revert_schema_migration,
    "get_customer": _get_customer,
    "get_order": _get_order,
    "list_orders": _list_orders,
    "get_inventory_item": _get_inventory_item,
    "unfreeze_account": _unfreeze_account,
    "upgrade_customer_tier": _upgrade_customer_tier,
    "create_order": _create_order,
    "cancel_order": _cancel_order,
    "reserve_inventory": _reserve_inventory,
    "release_inventory": _release_inventory,
}
