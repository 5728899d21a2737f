//! The bodies of the fuzz targets: each takes any bytes and panics when a promise is broken. They
//! build with any toolchain; only the harnesses in `fuzz_targets/` need a fuzzer.

pub mod duel;
pub mod http;
pub mod lines;
pub mod parcels;
pub mod record;
pub mod relay;
pub mod resp;
pub mod xml;
