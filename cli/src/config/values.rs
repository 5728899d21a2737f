//! Parsers of values: text in, value or the reason why it is none out.

use std::{
    fmt::Display, net::SocketAddr, num::NonZeroU32, ops::RangeInclusive, path::PathBuf,
    str::FromStr, time::Duration,
};

use turnstile_embedded::Durability;
use turnstile_server::{
    CollectorUrl, DatabaseUrl, InvalidNodeName, InvalidOrigin, InvalidServer, InvalidUrl, Limits,
    LogPlace, NodeName, ScoresWire, ServerUrl, WebOrigin,
};
use turnstile_travel::Desk;
use turnstile_types::{AddressPolicy, Name, Principal};

use super::{Config, option::listed};
use crate::{logging, memory};

/// The least that idempotency keys may take.
const KEY_BYTES_LEAST: u64 = 1 << 20;

pub(super) fn addresses(text: &str) -> Result<AddressPolicy, String> {
    match text {
        "none" => Ok(AddressPolicy::None),
        "network" => Ok(AddressPolicy::Network),
        "whole" => Ok(AddressPolicy::Whole),
        _ => Err("it is none, network or whole".to_owned()),
    }
}

/// A principal: 1 to 64 letters, digits and `._:-`.
pub(super) fn principal(text: &str) -> Result<Option<Principal>, String> {
    let name = Name::parse(text.as_bytes()).map_err(|invalid| invalid.to_string())?;
    Ok(Some(Principal(name)))
}

/// Sets a value that was parsed.
pub(super) fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

/// A whole number within bounds; `unit` ends the error.
fn number<T: FromStr + PartialOrd + Display>(
    text: &str,
    bounds: RangeInclusive<T>,
    unit: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| format!("it is from {} to {}{unit}", bounds.start(), bounds.end()))
}

/// Microseconds from 0, which means something of its own.
fn microseconds(text: &str, zero: &str, most: u32) -> Result<Duration, String> {
    let micros = text.parse().ok().filter(|micros: &u32| *micros <= most);
    let time = micros.map(|micros| Duration::from_micros(micros.into()));
    time.ok_or_else(|| format!("it is from 0, for {zero}, to {most} microseconds"))
}

/// A segment holds the largest batch many times over, and an offset in it fits 32 bits.
pub(super) fn segment_bytes(text: &str) -> Result<u32, String> {
    number(text, 4 << 20..=1 << 30, " bytes")
}

pub(super) fn connections(text: &str) -> Result<usize, String> {
    let number = number(text, 1..=Limits::CONNECTIONS_MOST, "")?;
    Ok(usize::try_from(number).expect("32 bits fit"))
}

pub(super) fn players(text: &str) -> Result<u64, String> {
    number(text, 1..=Limits::CONNECTIONS_MOST.into(), "")
}

pub(super) fn request(text: &str) -> Result<Duration, String> {
    let ms = number(text, 1..=Limits::REQUEST_MS_MOST.into(), " ms");
    ms.map(Duration::from_millis)
}

pub(super) fn drain(text: &str) -> Result<Duration, String> {
    number(text, 0..=Limits::FAREWELL_MS_MOST.into(), " ms").map(Duration::from_millis)
}

pub(super) fn farewell(text: &str) -> Result<Duration, String> {
    number(text, 1..=Limits::FAREWELL_MS_MOST.into(), " ms").map(Duration::from_millis)
}

pub(super) fn slow_command(text: &str) -> Result<Duration, String> {
    microseconds(text, "every command", Limits::SLOW_COMMAND_US_MOST)
}

pub(super) fn slow_request(text: &str) -> Result<Duration, String> {
    microseconds(text, "none", Limits::SLOW_COMMAND_US_MOST)
}

pub(super) fn waiting_room_rate(text: &str) -> Result<Option<NonZeroU32>, String> {
    let rate = number(text, 0..=Limits::WAITING_ROOM_RATE_MOST, " a second");
    rate.map(NonZeroU32::new)
}

pub(super) fn waiting_room_places(text: &str) -> Result<u32, String> {
    number(text, 1..=Limits::WAITING_ROOM_PLACES_MOST, "")
}

pub(super) fn busy_poll(text: &str) -> Result<Duration, String> {
    microseconds(text, "never", Limits::BUSY_POLL_US_MOST)
}

pub(super) fn travel_ms(text: &str) -> Result<u64, String> {
    number(text, 1..=turnstile_travel::limits::SETTING_MS_MAX, " ms")
}

pub(super) fn games_ms(text: &str) -> Result<u64, String> {
    number(text, 1..=turnstile_games::limits::SETTING_MS_MAX, " ms")
}

pub(super) fn boolean(text: &str) -> Result<bool, String> {
    text.parse()
        .map_err(|_invalid| "it is either true or false".to_owned())
}

pub(super) fn directory(text: &str) -> Result<Option<PathBuf>, String> {
    if text.is_empty() {
        return Err("a directory is needed".to_owned());
    }
    Ok(Some(PathBuf::from(text)))
}

pub(super) fn file(text: &str) -> Result<Option<PathBuf>, String> {
    if text.is_empty() {
        return Err("a file is needed".to_owned());
    }
    Ok(Some(PathBuf::from(text)))
}

pub(super) fn durability(text: &str) -> Result<Durability, String> {
    [Durability::Sync, Durability::Os, Durability::Memory]
        .into_iter()
        .find(|durability| durability.to_string() == text)
        .ok_or_else(|| "durability is sync, os or memory".to_owned())
}

pub(super) fn records(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_invalid| "it is a number of records, or 0".to_owned())
}

pub(super) fn origins(text: &str) -> Result<Vec<WebOrigin>, String> {
    let origins = listed(text).map(|origin| {
        let origin = origin.parse();
        origin.map_err(|invalid: InvalidOrigin| invalid.to_string())
    });
    origins.collect()
}

/// Addresses of brokers.
pub(super) fn brokers(text: &str) -> Result<Vec<ServerUrl>, String> {
    let urls = listed(text).map(|url| {
        url.parse()
            .map_err(|invalid: InvalidServer| invalid.to_string())
    });
    urls.collect()
}

pub(super) fn node_name(text: &str) -> Result<Option<NodeName>, String> {
    let name = text.parse().map(Some);
    name.map_err(|invalid: InvalidNodeName| invalid.to_string())
}

pub(super) fn node_names(text: &str) -> Result<Vec<NodeName>, String> {
    let names = listed(text).map(|name| {
        name.parse()
            .map_err(|invalid: InvalidNodeName| invalid.to_string())
    });
    names.collect()
}

/// A host that others can be told: a name or an address, without a port.
pub(super) fn host(text: &str) -> Result<String, String> {
    let is_of_a_host =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    if (1..=253).contains(&text.len()) && text.bytes().all(is_of_a_host) {
        Ok(text.to_owned())
    } else {
        Err("it is a host name or an address, without a port".to_owned())
    }
}

pub(super) fn replicas(text: &str) -> Result<u8, String> {
    let replicas = text
        .parse()
        .ok()
        .filter(|replicas| [1, 3, 5].contains(replicas));
    replicas.ok_or_else(|| "it is 1, 3 or 5".to_owned())
}

pub(super) fn stream_bytes(text: &str) -> Result<u64, String> {
    number(text, 1 << 24..=1 << 50, " bytes")
}

pub(super) fn entry_version(text: &str) -> Result<u16, String> {
    let newest = turnstile_server::ENTRY_VERSION;
    let version = text
        .parse()
        .ok()
        .filter(|version| (1..=newest).contains(version));
    version.ok_or_else(|| format!("it is a version of entries, from 1 to {newest}"))
}

pub(super) fn snapshot_entries(text: &str) -> Result<u64, String> {
    number(text, 100..=1 << 40, " entries")
}

/// Names of hosts, without ports.
pub(super) fn hosts(text: &str) -> Result<Vec<String>, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let hosts = listed(text).map(|host| {
        let is_host = host.bytes().all(is_part);
        is_host.then(|| host.to_owned()).ok_or_else(|| {
            format!(
                "`{host}` is no name of a host: write one such as console.example, without a port"
            )
        })
    });
    hosts.collect()
}

pub(super) fn output_bytes(text: &str) -> Result<usize, String> {
    const LEAST: usize = Limits::OUTPUT_BYTES_LEAST;
    let bytes = text.parse().ok().filter(|bytes| *bytes >= LEAST);
    bytes.ok_or_else(|| format!("it is at least {LEAST} bytes"))
}

/// 0 is a part of the machine's memory.
pub(super) fn key_bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Ok(memory::for_keys()),
        Ok(bytes @ KEY_BYTES_LEAST..) => Ok(bytes),
        _ => Err(format!("it is 0, or at least {KEY_BYTES_LEAST} bytes")),
    }
}

pub(super) fn fault_points(text: &str) -> Result<bool, String> {
    match boolean(text)? {
        true if !turnstile_server::HAS_FAULT_POINTS => {
            Err("this build has no fault points: it was built without debug assertions".to_owned())
        }
        allowed => Ok(allowed),
    }
}

/// The URL of a database, or nothing when the journal is meant.
pub(super) fn backend(text: &str) -> Result<Option<DatabaseUrl>, String> {
    if text == "embedded" {
        return Ok(None);
    }
    let url = text.parse().map(Some);
    url.map_err(|invalid: InvalidUrl| format!("{invalid}, or embedded"))
}

/// The same, of a database that can keep an exchange.
pub(super) fn exchange_backend(text: &str) -> Result<Option<DatabaseUrl>, String> {
    match backend(text)? {
        Some(url) if !url.keeps_exchange() => {
            Err("an exchange is kept in postgres://user@host:port/database, or embedded".to_owned())
        }
        url => Ok(url),
    }
}

/// The address of a door, or nothing when it is off.
pub(super) fn door(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" {
        return Ok(None);
    }
    address(text).map(Some)
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    crate::address::parse(text).map_err(|sentence| format!("{sentence}, or off"))
}

/// Adds the address of a resource manager in another process.
pub(super) fn add_desk(config: &mut Config, desk: Desk, text: &str) -> Result<(), String> {
    config.desks.push((desk, address(text)?));
    Ok(())
}

pub(super) fn scores_wire(text: &str) -> Result<ScoresWire, String> {
    match text {
        "numbered" => Ok(ScoresWire::Numbered),
        "ancestor" => Ok(ScoresWire::Ancestor),
        _ => Err("the protocol of the scores: numbered or ancestor".to_owned()),
    }
}

/// Where the access log goes, or nothing when there is to be none.
pub(super) fn access_log(text: &str) -> Result<Option<LogPlace>, String> {
    match text {
        "off" => Ok(None),
        "stderr" => Ok(Some(LogPlace::Stderr)),
        "" => Err("it is off, stderr or a file".to_owned()),
        path => Ok(Some(LogPlace::File(path.into()))),
    }
}

/// Where spans go, or nothing when there are to be none.
pub(super) fn collector(text: &str) -> Result<Option<CollectorUrl>, String> {
    if text == "off" {
        return Ok(None);
    }
    let url = CollectorUrl::parse(text);
    url.map(Some).map_err(|invalid| invalid.to_string())
}

/// Of how many requests one is traced.
pub(super) fn one_in(text: &str) -> Result<u64, String> {
    number(text, 0..=1_000_000_000, " requests")
}

pub(super) fn log_format(text: &str) -> Result<logging::Format, String> {
    <logging::Format as clap::ValueEnum>::from_str(text, false)
        .map_err(|_invalid| "a log format is text or json".to_owned())
}
