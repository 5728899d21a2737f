//! Commands as bytes.

use turnstile_types::{Malformed, Reader, put_flag, put_u8, put_u32};

use super::fields::{
    guest, guest_id, name, put_guest, put_guest_id, put_name, put_reference, put_stay, put_wish,
    reference, wish,
};
use crate::Command;

pub(crate) fn put_command(command: &Command<'_>, out: &mut Vec<u8>) {
    match command {
        Command::AddProperty { property, open } => {
            put_u8(out, 0x01);
            put_name(out, property);
            put_flag(out, *open);
        }
        Command::AddRoom {
            property,
            room,
            room_type,
        } => {
            put_u8(out, 0x02);
            put_name(out, property);
            put_name(out, room);
            put_name(out, room_type);
        }
        Command::WithdrawRoom { property, room } => {
            put_u8(out, 0x03);
            put_name(out, property);
            put_name(out, room);
        }
        Command::StopSell {
            property,
            room,
            stay,
            stopped,
        } => {
            put_u8(out, 0x04);
            put_name(out, property);
            put_name(out, room);
            put_stay(out, *stay);
            put_flag(out, *stopped);
        }
        Command::Book { .. }
        | Command::Hold { .. }
        | Command::Extend { .. }
        | Command::Confirm { .. }
        | Command::Release { .. }
        | Command::Cancel { .. } => put_entry_command(command, out),
    }
}

/// The commands about bookings and holds.
fn put_entry_command(command: &Command<'_>, out: &mut Vec<u8>) {
    match command {
        Command::Book {
            property,
            wish,
            stay,
            guest,
            id,
        } => {
            put_u8(out, 0x05);
            put_name(out, property);
            put_wish(out, wish);
            put_stay(out, *stay);
            put_guest(out, guest.as_str());
            put_guest_id(out, *id);
        }
        Command::Hold {
            property,
            wish,
            stay,
            ttl_ms,
        } => {
            put_u8(out, 0x06);
            put_name(out, property);
            put_wish(out, wish);
            put_stay(out, *stay);
            put_u32(out, *ttl_ms);
        }
        Command::Extend { hold, ttl_ms } => {
            put_u8(out, 0x07);
            put_reference(out, *hold);
            put_u32(out, *ttl_ms);
        }
        Command::Confirm { hold, guest, id } => {
            put_u8(out, 0x08);
            put_reference(out, *hold);
            put_guest(out, guest.as_str());
            put_guest_id(out, *id);
        }
        Command::Release { hold } => {
            put_u8(out, 0x09);
            put_reference(out, *hold);
        }
        Command::Cancel { booking, id } => {
            put_u8(out, 0x0a);
            put_reference(out, *booking);
            put_guest_id(out, *id);
        }
        Command::AddProperty { .. }
        | Command::AddRoom { .. }
        | Command::WithdrawRoom { .. }
        | Command::StopSell { .. } => unreachable!("the caller wrote these"),
    }
}

pub(crate) fn command(bytes: &[u8]) -> Result<Command<'_>, Malformed> {
    let mut reader = Reader::new(bytes);
    let r = &mut reader;
    let command = match r.u8("command")? {
        0x01 => Command::AddProperty {
            property: name(r, "property")?,
            open: r.flag("open")?,
        },
        0x02 => Command::AddRoom {
            property: name(r, "property")?,
            room: name(r, "room")?,
            room_type: name(r, "type")?,
        },
        0x03 => Command::WithdrawRoom {
            property: name(r, "property")?,
            room: name(r, "room")?,
        },
        0x04 => Command::StopSell {
            property: name(r, "property")?,
            room: name(r, "room")?,
            stay: r.stay("stay")?,
            stopped: r.flag("stopped")?,
        },
        0x05 => Command::Book {
            property: name(r, "property")?,
            wish: wish(r)?,
            stay: r.stay("stay")?,
            guest: guest(r)?,
            id: guest_id(r)?,
        },
        0x06 => Command::Hold {
            property: name(r, "property")?,
            wish: wish(r)?,
            stay: r.stay("stay")?,
            ttl_ms: r.u32("ttl")?,
        },
        0x07 => Command::Extend {
            hold: reference(r)?,
            ttl_ms: r.u32("ttl")?,
        },
        0x08 => Command::Confirm {
            hold: reference(r)?,
            guest: guest(r)?,
            id: guest_id(r)?,
        },
        0x09 => Command::Release {
            hold: reference(r)?,
        },
        0x0a => Command::Cancel {
            booking: reference(r)?,
            id: guest_id(r)?,
        },
        _ => return Err(Malformed { field: "command" }),
    };
    reader.finish("command")?;
    Ok(command)
}
