"""The object store: buckets and objects. Keys are plain strings: no path is ever made of them."""

import hashlib
from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

BUCKETS = Table("buckets", "bucket", {"bucket_name": str, "access": str})
OBJECTS = Table(
    "objects",
    "object",
    {"bucket_name": str, "key": str, "content": str, "size": int, "etag": str},
    key_columns=2,
)
SOURCES = Table("copy_sources", "copy source", {"bucket_name": str, "key": str, "source": str}, key_columns=2)
TABLES = (BUCKETS, OBJECTS, SOURCES)


def get_object(tx: Tx, args: Row) -> Row:
    """Answer one object with its content."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return tx.get(OBJECTS, bucket, args["key"])


def head_object(tx: Tx, args: Row) -> Row:
    """Answer one object without its content."""
    return _head(get_object(tx, args))


def list_objects(tx: Tx, args: Row) -> Row:
    """Answer the objects of one bucket without their contents."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return {"items": [_head(row) for row in tx.where(OBJECTS, "bucket_name", bucket)]}


def put_object(tx: Tx, args: Row) -> Row:
    """Write an object, over an old one too."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return _head(tx.put(OBJECTS, with_digest(bucket, args["key"], args["content"])))


def copy_object(tx: Tx, args: Row) -> Iterator[Row]:
    """Copy an object, then note where it came from: two commits."""
    source_bucket = tx.get(BUCKETS, args["source_bucket"])["bucket_name"]
    dest = {"bucket_name": tx.get(BUCKETS, args["dest_bucket"])["bucket_name"], "key": args["dest_key"]}
    source = tx.get(OBJECTS, source_bucket, args["source_key"])
    yield _head(tx.put(OBJECTS, {**source, **dest}))
    tx.put(SOURCES, {**dest, "source": f"{source_bucket}/{args['source_key']}"})


def delete_object(tx: Tx, args: Row) -> Row:
    """Take an object and its note of origin away; one that is not there is no error."""
    bucket, key = tx.get(BUCKETS, args["bucket_name"])["bucket_name"], args["key"]
    deleted = tx.remove(OBJECTS, bucket, key)
    if tx.find(SOURCES, bucket, key) is not None:
        tx.remove(SOURCES, bucket, key)
    return {"bucket_name": bucket, "key": key, "deleted": deleted}


def set_bucket_access(tx: Tx, args: Row) -> Row:
    """Set who may read a bucket."""
    return tx.change(BUCKETS, tx.get(BUCKETS, args["bucket_name"]), access=args["access"])


def with_digest(bucket: str, key: str, content: str) -> Row:
    """Return the whole row of an object."""
    data = content.encode()
    etag = hashlib.sha256(data).hexdigest()[:8]
    return {"bucket_name": bucket, "key": key, "content": content, "size": len(data), "etag": etag}


def _head(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "content"}


HANDLERS: dict[str, Handler] = {
    "get_object": get_object,
    "head_object": head_object,
    "list_objects": list_objects,
    "put_object": put_object,
    "copy_object": copy_object,
    "delete_object": delete_object,
    "set_bucket_access": set_bucket_access,
}
