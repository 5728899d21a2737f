//! What Redis reports about itself.

use redis::{InfoDict, Value, cmd};
use turnstile_contract::{Facts, Tally};

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
