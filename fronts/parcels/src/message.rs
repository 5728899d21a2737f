//! What the two ends of a line say to each other.

use std::fmt;

use turnstile_travel::{Command, Desk, Parcel, Travel};
use turnstile_types::{Machine, Malformed, Reader, put_flag, put_u8, put_u64};

use crate::{Broken, frame::put_frame, limits::REFUSAL_BYTES_MAX};

const HELLO: u8 = 1;
const REFUSAL: u8 = 2;
const PARCEL: u8 = 3;
const FAULT_POINT: u8 = 4;
const SHUTDOWN: u8 = 5;
const ARMED: u8 = 6;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// The first of either end.
    Hello(Hello),
    /// Why the peer is not served; nothing follows.
    Refusal(&'a str),
    Parcel(Parcel),
    /// The desk is to end itself at this fault point; 0 is nowhere. Only desks get it.
    FaultPoint {
        mode: u8,
    },
    /// The desk's process is to stop. Only desks get it.
    Shutdown,
    /// The desk has taken a fault point, in their order; whether it could keep it. Only the middleware
    /// is told.
    Armed {
        is_kept: bool,
    },
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The desk to which the line leads.
    pub desk: Desk,
    /// The life of the end that speaks.
    pub life: u64,
    /// Whether the process that speaks has fault points.
    pub fault_points: bool,
}

/// Appends a message.
///
/// # Panics
/// As [`put_parcel`].
pub fn put_message(out: &mut Vec<u8>, message: Message<'_>) {
    match message {
        Message::Parcel(parcel) => put_parcel(out, parcel),
        Message::Refusal(why) => put_refusal(out, why),
        Message::Hello(hello) => put_frame(out, |out| {
            put_u8(out, HELLO);
            put_u8(out, number_of(hello.desk));
            put_u64(out, hello.life);
            put_flag(out, hello.fault_points);
        }),
        Message::FaultPoint { mode } => put_frame(out, |out| {
            put_u8(out, FAULT_POINT);
            put_u8(out, mode);
        }),
        Message::Shutdown => put_frame(out, |out| put_u8(out, SHUTDOWN)),
        Message::Armed { is_kept } => put_frame(out, |out| {
            put_u8(out, ARMED);
            put_flag(out, is_kept);
        }),
    }
}

/// Appends a parcel.
///
/// # Panics
/// When it is too long for a record: machines make no such parcel.
pub fn put_parcel(out: &mut Vec<u8>, parcel: Parcel) {
    put_frame(out, |out| {
        put_u8(out, PARCEL);
        Travel::encode_command(&Command::Deliver(parcel), out);
    });
}

/// Appends a refusal; what is too long of it is cut.
///
/// # Panics
/// Never.
pub fn put_refusal(out: &mut Vec<u8>, why: impl fmt::Display) {
    let mut why = why.to_string();
    why.truncate(why.floor_char_boundary(REFUSAL_BYTES_MAX));
    put_frame(out, |out| {
        put_u8(out, REFUSAL);
        out.extend_from_slice(why.as_bytes());
    });
}

pub(crate) fn read(frame: &[u8]) -> Result<Message<'_>, Broken> {
    let (&kind, content) = frame.split_first().expect("a frame has its kind");
    let mut reader = Reader::new(content);
    let message = match kind {
        HELLO => Message::Hello(Hello {
            desk: desk_of(reader.u8("desk")?)?,
            life: reader.u64("life")?,
            fault_points: reader.flag("fault points")?,
        }),
        REFUSAL => return refusal(content).map(Message::Refusal),
        PARCEL => return parcel(content).map(Message::Parcel),
        FAULT_POINT => Message::FaultPoint {
            mode: reader.u8("mode")?,
        },
        SHUTDOWN => Message::Shutdown,
        ARMED => Message::Armed {
            is_kept: reader.flag("armed")?,
        },
        kind => return Err(Broken::Kind(kind)),
    };
    reader.finish("end")?;
    Ok(message)
}

fn refusal(content: &[u8]) -> Result<&str, Broken> {
    Malformed::unless(content.len() <= REFUSAL_BYTES_MAX, "length of a refusal")?;
    let text = str::from_utf8(content);
    text.map_err(|_other_bytes| Broken::Content(Malformed { field: "sentence" }))
}

fn parcel(content: &[u8]) -> Result<Parcel, Broken> {
    match Travel::decode_command(content)? {
        Command::Deliver(parcel) => Ok(parcel),
        _ => Err(Broken::Content(Malformed { field: "parcel" })),
    }
}

fn number_of(desk: Desk) -> u8 {
    let place = Desk::ALL.iter().position(|one| *one == desk);
    u8::try_from(place.expect("it is one of all")).expect("there are four")
}

fn desk_of(number: u8) -> Result<Desk, Malformed> {
    let desk = Desk::ALL.get(usize::from(number)).copied();
    desk.ok_or(Malformed { field: "desk" })
}
