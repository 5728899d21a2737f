//! RESP2 and RESP3 as a sans-I/O codec, and the commands of the services in it.
