//! Commands as arguments of the functions.

use redis::Cmd;
use turnstile_contract::{Failure, Request, natural_key};
use turnstile_rooms::{Command, GuestId, Reference, Rooms, Wish, limits};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Stay, Timestamp};

use crate::names::BASE;

/// The version of the form that keys and their values have.
pub(crate) const SCHEMA: u32 = 1;

/// A call of a function, with the instant and the limits that all of them take.
pub(crate) fn call(function: &str, now: Timestamp) -> Cmd {
    let limits = format!(
        "{} {} {} {} {} {} {KEY_MS}",
        limits::HOLD_TTL_MS_MAX,
        limits::HOLD_TOTAL_MS_MAX,
        limits::LATE_CONFIRM_MS,
        limits::HOLDS_PER_PRINCIPAL_MAX,
        limits::ROOMS_PER_PROPERTY_MAX,
        limits::ROOMS_PER_OPEN_PROPERTY_MAX,
    );
    let mut call = redis::cmd("FCALL");
    call.arg(function).arg(1).arg(BASE).arg(now.0).arg(limits);
    call
}

/// What a retry is told by, as it is kept.
pub(crate) fn content(content: u64) -> String {
    format!("{content:016x}")
}

/// Appends a command to a call; nothing, when this back end does not offer it.
pub(crate) fn put(request: &Request, call: &mut Cmd) -> Result<(), Failure> {
    let command = request.command::<Rooms>();
    let command = command.map_err(|malformed| Failure::Broken {
        reason: format!("a command of this server: {malformed}"),
    })?;
    let operation = command.code();
    let fields = fields(&command).ok_or(Failure::Unsupported { operation })?;
    let [own, others] = request.scope().patterns();
    call.arg(request.principal.0.as_bytes())
        .arg(request.key().unwrap_or_default())
        .arg(content(request.content::<Rooms>()))
        .arg(own)
        .arg(others)
        .arg(command.code())
        .arg(fields.len());
    for field in fields {
        call.arg(field);
    }
    Ok(())
}

type FunctionArguments = Vec<Vec<u8>>;

fn fields(command: &Command<'_>) -> Option<FunctionArguments> {
    let number = |reference: &Reference| reference.number().to_string().into_bytes();
    Some(match command {
        Command::AddProperty { property, open } => {
            let kind = if *open { "open" } else { "closed" };
            vec![property.as_bytes().to_vec(), kind.into()]
        }
        Command::AddRoom {
            property,
            room,
            room_type,
        } => vec![
            property.as_bytes().to_vec(),
            room.as_bytes().to_vec(),
            room_type.as_bytes().to_vec(),
            natural_key(room.as_bytes()),
        ],
        Command::Book {
            property,
            wish,
            stay,
            guest,
            id,
        } => {
            let mut fields = vec![property.as_bytes().to_vec()];
            fields.extend(wished(wish, *stay));
            fields.push(guest.as_str().into());
            fields.extend(sealed(id));
            fields
        }
        Command::Hold {
            property,
            wish,
            stay,
            ttl_ms,
        } => {
            let mut fields = vec![property.as_bytes().to_vec()];
            fields.extend(wished(wish, *stay));
            fields.push(ttl_ms.to_string().into());
            fields
        }
        Command::Extend { hold, ttl_ms } => vec![number(hold), ttl_ms.to_string().into()],
        Command::Confirm { hold, guest, id } => {
            let mut fields = vec![number(hold), guest.as_str().into()];
            fields.extend(sealed(id));
            fields
        }
        Command::Release { hold } => vec![number(hold)],
        Command::Cancel { booking, id } => {
            let mut fields = vec![number(booking)];
            fields.extend(sealed(id));
            fields
        }
        Command::CancelForGuest { booking, reason } => {
            vec![number(booking), reason.as_str().into()]
        }
        Command::Move {
            booking,
            wish,
            stay,
            id,
        } => {
            let mut fields = vec![number(booking)];
            fields.extend(wished(wish, *stay));
            fields.extend(sealed(id));
            fields
        }
        Command::WithdrawRoom { .. } | Command::StopSell { .. } => return None,
    })
}

fn wished(wish: &Wish, stay: Stay) -> FunctionArguments {
    let (kind, name): (&str, &[u8]) = match wish {
        Wish::Room(room) => ("room", room.as_bytes()),
        Wish::Type(room_type) => ("type", room_type.as_bytes()),
        Wish::Any => ("any", b""),
    };
    vec![
        kind.into(),
        name.to_vec(),
        stay.arrival().days().to_string().into(),
        stay.departure().days().to_string().into(),
        stay.arrival().to_string().into(),
    ]
}

/// A guest's id number as listings show it, and its seal.
pub(crate) fn sealed(id: &GuestId) -> [Vec<u8>; 2] {
    [id.masked().into(), format!("{:016x}", id.seal).into()]
}
