"""The cloud: services, the routes that send them traffic, the discovery catalog."""

from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

SERVICES = Table("services", "service", {"service_name": str, "version": str, "color": str, "replicas": int})
ROUTES = Table("routes", "route", {"service_name": str, "active_color": str})
CATALOG = Table("catalog", "catalog entry", {"service_name": str, "instances": int})
TABLES = (SERVICES, ROUTES, CATALOG)


def get_service(tx: Tx, args: Row) -> Row:
    """Answer one service."""
    return tx.get(SERVICES, args["service_name"])


def get_route(tx: Tx, args: Row) -> Row:
    """Answer one route."""
    return tx.get(ROUTES, args["service_name"])


def deploy_green_service(tx: Tx, args: Row) -> Iterator[Row]:
    """Start the green copy, then enter it in the catalog: two commits."""
    replicas = tx.get(SERVICES, args["service_name"])["replicas"]
    green = f"{args['service_name']}-green"
    yield tx.put(
        SERVICES, {"service_name": green, "version": args["version"], "color": "green", "replicas": replicas}
    )
    tx.put(CATALOG, {"service_name": green, "instances": replicas})


def switch_traffic_routing(tx: Tx, args: Row) -> Row:
    """Send the traffic to one color."""
    name, color = args["service_name"], args["target_color"]
    route = tx.get(ROUTES, name)
    if color == "green" and tx.find(SERVICES, f"{name}-green") is None:
        raise ToolError("precondition_failed", f"{name} has no green service")
    return tx.change(ROUTES, route, active_color=color)


def scale_service(tx: Tx, args: Row) -> Row:
    """Set the number of replicas."""
    return tx.change(SERVICES, tx.get(SERVICES, args["service_name"]), replicas=args["new_replicas"])


def delete_green_service(tx: Tx, args: Row) -> Row:
    """Take the green copy and its catalog entry away."""
    name = args["service_name"]
    green = tx.get(SERVICES, f"{name}-green")["service_name"]
    route = tx.find(ROUTES, name)
    if route is not None and route["active_color"] == "green":
        raise ToolError("conflict", f"{name} routes to green")
    tx.remove(SERVICES, green)
    tx.remove(CATALOG, green)
    return {"service_name": green, "deleted": True}


HANDLERS: dict[str, Handler] = {
    "get_service": get_service,
    "get_route": get_route,
    "deploy_green_service": deploy_green_service,
    "switch_traffic_routing": switch_traffic_routing,
    "scale_service": scale_service,
    "delete_green_service": delete_green_service,
}
