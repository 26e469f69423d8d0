"""The storage domain of `docs/reference/tools.md`, over dictionaries."""

import hashlib
from collections.abc import Mapping
from typing import Any

from undolab.model.workflow import Row
from undolab.oracle.fold.store import Handler, Store, Table

TABLES = {
    "buckets": Table("bucket", ("bucket_name",)),
    "objects": Table("object", ("bucket_name", "key")),
    "copy_sources": Table("copy source", ("bucket_name", "key")),
}


def object_row(bucket: str, key: str, content: str) -> Row:
    """Return the row of an object with the columns that follow from its content."""
    data = content.encode()
    return {
        "bucket_name": bucket,
        "key": key,
        "content": content,
        "size": len(data),
        "etag": hashlib.sha256(data).hexdigest()[:8],
    }


def _head(row: Row) -> dict[str, Any]:
    return {column: value for column, value in row.items() if column != "content"}


def _get_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    return store.need("objects", f"{args['bucket_name']}/{args['key']}")


def _head_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _head(_get_object(store, args))


def _list_objects(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    found = store.items("objects", bucket_name=args["bucket_name"])
    return {"items": [_head(row) for row in found["items"]]}


def _put_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    bucket, key = args["bucket_name"], args["key"]
    store.need("buckets", bucket)
    return _head(store.put("objects", f"{bucket}/{key}", object_row(bucket, key, args["content"])))


def _copy_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["source_bucket"])
    store.need("buckets", args["dest_bucket"])
    source = f"{args['source_bucket']}/{args['source_key']}"
    content = store.need("objects", source)["content"]
    bucket, key = args["dest_bucket"], args["dest_key"]
    row = store.put("objects", f"{bucket}/{key}", object_row(bucket, key, content))
    store.put("copy_sources", f"{bucket}/{key}", {"bucket_name": bucket, "key": key, "source": source})
    return _head(row)


def _delete_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    bucket, key = args["bucket_name"], args["key"]
    store.need("buckets", bucket)
    place = f"{bucket}/{key}"
    deleted = store.remove("objects", place)
    if store.get("copy_sources", place) is not None:
        store.remove("copy_sources", place)
    return {"bucket_name": bucket, "key": key, "deleted": deleted}


def _set_bucket_access(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    return store.change("buckets", args["bucket_name"], access=args["access"])


HANDLERS: dict[str, Handler] = {
    "get_object": _get_object,
    "head_object": _head_object,
    "list_objects": _list_objects,
    "put_object": _put_object,
    "copy_object": _copy_object,
    "delete_object": _delete_object,
    "set_bucket_access": _set_bucket_access,
}
