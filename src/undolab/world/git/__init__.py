"""Git without a directory: libgit2 makes and reads the objects, the world's SQLite store holds them."""
