//! What Redis reports about itself.

use redis::{InfoDict, Value, cmd};
use turnstile_contract::{Facts, Tally, Unready};

use crate::link::{CallFailure, Dialer};

/// The settings on which it depends what a restart forgets.
const SETTINGS: [&str; 4] = ["appendonly", "appendfsync", "save", "maxmemory-policy"];

pub(crate) async fn ask(
    link: &Dialer,
    tally: &Tally,
    place: &str,
    schema: u32,
) -> Result<Facts, CallFailure> {
    let info: InfoDict = link.ask(tally, cmd("INFO").arg("server")).await?;
    let version = info.get("redis_version").unwrap_or_default();
    let mut durability = Vec::new();
    for setting in SETTINGS {
        let asked = link.ask(tally, cmd("CONFIG").arg("GET").arg(setting)).await;
        // Where CONFIG is forbidden, its owner alone knows.
        let value = match asked {
            Ok(Value::Array(pair)) => match pair.get(1) {
                Some(Value::BulkString(value)) => String::from_utf8_lossy(value).into_owned(),
                _ => "unknown".to_owned(),
            },
            Ok(_) | Err(CallFailure::Undone(_)) => "unknown".to_owned(),
            Err(trouble) => return Err(trouble),
        };
        durability.push((setting.to_owned(), value));
    }
    Ok(Facts {
        product: "Redis".to_owned(),
        version,
        place: place.to_owned(),
        durability,
        schema,
    })
}

/// The policy under which Redis evicts nothing: it refuses writes when its memory is full.
const KEEPS_ALL: &str = "noeviction";

/// Refuses a Redis that may evict keys. Under a `volatile-*` policy the idempotency keys go first, since only
/// they have an expiry, and a retry would book twice; under an `allkeys-*` policy bookings go. `INFO` is
/// asked, as it is often allowed where `CONFIG` is not; where it is not either, its owner alone knows.
pub(crate) async fn refuse_eviction(link: &Dialer, tally: &Tally) -> Result<(), Unready> {
    let asked = link.ask(tally, cmd("INFO").arg("memory")).await;
    let info: InfoDict = match asked {
        Ok(info) => info,
        Err(CallFailure::Undone(_)) => return Ok(()),
        Err(trouble) => return Err(trouble.into()),
    };
    let (Some(policy), Some(memory)) = (
        info.get::<String>("maxmemory_policy"),
        info.get::<u64>("maxmemory"),
    ) else {
        return Ok(());
    };
    if memory == 0 || policy == KEEPS_ALL {
        return Ok(());
    }
    Err(Unready::Unsafe(format!(
        "with maxmemory-policy {policy} and maxmemory {memory} it may evict bookings or idempotency keys: \
         set maxmemory-policy to {KEEPS_ALL}, or maxmemory to 0"
    )))
}
