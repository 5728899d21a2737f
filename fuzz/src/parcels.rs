//! The line between processes: any bytes are refused, wanting, or messages, wherever they are cut;
//! and a middleware and its desks take every parcel that is read.

use turnstile_parcels::{Broken, Frames, Message, MessageScan, put_message, put_opening};
use turnstile_travel::{Command, Desks, Parcel, Settings, Travel, TravelRoles};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// Reads `bytes` as a stream behind an opening, at once and in pieces whose size the first byte
/// chooses.
pub fn run(bytes: &[u8]) {
    let Some((&piece, rest)) = bytes.split_first() else {
        return;
    };
    let mut stream = Vec::new();
    put_opening(&mut stream);
    stream.extend_from_slice(rest);
    let whole = read(&stream, stream.len());
    assert_eq!(whole, read(&stream, usize::from(piece).max(1)));
    let (mut middleware, mut desks) = (process(true), process(false));
    for (position, parcel) in (3..).zip(whole.0) {
        deliver(&mut middleware, position, parcel.clone());
        deliver(&mut desks, position, parcel);
    }
}

/// The parcels of a stream that comes in pieces, and how it broke. What is read is written back as
/// the same bytes.
fn read(stream: &[u8], piece: usize) -> (Vec<Parcel>, Option<Broken>) {
    let mut frames = Frames::default();
    let (mut parcels, mut start, mut end) = (Vec::new(), 0, 0);
    while end < stream.len() {
        end = stream.len().min(end + piece);
        loop {
            match frames.next(&stream[start..end]) {
                Err(broken) => return (parcels, Some(broken)),
                Ok(MessageScan::Incomplete { skipped }) => {
                    start += skipped;
                    break;
                }
                Ok(MessageScan::Message { message, consumed }) => {
                    let mut written = Vec::new();
                    put_message(&mut written, message.clone());
                    start += consumed;
                    assert!(stream[..start].ends_with(&written));
                    if let Message::Parcel(parcel) = message {
                        parcels.push(parcel);
                    }
                }
            }
        }
    }
    (parcels, None)
}

fn process(coordinator: bool) -> Travel {
    let mut travel = Travel::empty();
    let desks = if coordinator { Desks::NONE } else { Desks::ALL };
    let roles = TravelRoles { coordinator, desks };
    let settings = Settings {
        roles,
        ..Settings::FIRST
    };
    apply(&mut travel, 1, &Command::Configure(settings));
    apply(&mut travel, 2, &Command::Recover);
    travel
}

fn deliver(travel: &mut Travel, position: u64, parcel: Parcel) {
    apply(travel, position, &Command::Deliver(parcel));
    assert_eq!(Machine::check(travel), Ok(()));
}

fn apply(travel: &mut Travel, position: u64, command: &Command) {
    let context = Context {
        position: Position(position),
        now: Timestamp(position),
        principal: &Principal::local(),
    };
    Machine::apply(travel, &context, command);
}
