//! Requests as clients write them, and replies as clients read them, byte by byte.
