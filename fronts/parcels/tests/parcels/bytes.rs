//! Each message has its bytes, and bytes that are none are refused with their reason.

use turnstile_parcels::{
    Broken, Frames, Hello, Message, MessageScan, limits, put_message, put_opening,
};
use turnstile_travel::{Body, Desk, Order, Parcel, Request, Xid};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A stream that begins as it should, with these bytes behind.
fn opened(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    put_opening(&mut stream);
    stream.extend_from_slice(bytes);
    stream
}

fn parcel() -> Parcel {
    let request = Request {
        xid: Xid(5),
        order: Order::Prepare,
    };
    Parcel {
        desk: Desk::Rooms,
        life: 3,
        peer_life: 2,
        number: 4,
        received: 1,
        body: Body::Request(Some(request)),
    }
}

#[test]
fn each_message_has_its_bytes_and_is_read_back() {
    let hello = Hello {
        desk: Desk::Cars,
        life: 258,
        fault_points: true,
    };
    let rows = [
        (Message::Hello(hello), "0b000000 01 01 0201000000000000 01"),
        (Message::Refusal("no"), "03000000 02 6e6f"),
        (
            Message::Parcel(parcel()),
            "2e000000 03 23 02 0300000000000000 0200000000000000 0400000000000000 \
             0100000000000000 01 01 0500000000000000 02",
        ),
        (Message::FaultPoint { mode: 8 }, "02000000 04 08"),
        (Message::Shutdown, "01000000 05"),
        (Message::Armed { is_kept: true }, "02000000 06 01"),
    ];
    assert_eq!(hex(&opened(&[])), hex(b"tsdesk\x04\x00"));
    for (message, golden) in rows {
        let mut bytes = Vec::new();
        put_message(&mut bytes, message.clone());
        assert_eq!(hex(&bytes), golden.replace(' ', ""));
        let stream = opened(&bytes);
        let consumed = stream.len();
        let found = Frames::default().next(&stream);
        assert_eq!(found, Ok(MessageScan::Message { message, consumed }));
    }
}

#[test]
fn bytes_that_are_no_message_are_refused_with_their_reason() {
    let rows: [(&[u8], &str); 9] = [
        (
            b"GET / HTTP/1.1\r\n",
            "this door is for the middleware of travel, whose bytes begin with tsdesk",
        ),
        (
            b"tsdesk\x09\x00",
            "version 9 of the line is spoken there, and version 4 here",
        ),
        (
            b"tsdesk\x04\x00\0\0\0\0",
            "a frame of 0 bytes was announced, it has 1 to 65536",
        ),
        (
            b"tsdesk\x04\x00\xff\xff\xff\xff",
            "a frame of 4294967295 bytes was announced, it has 1 to 65536",
        ),
        (
            b"tsdesk\x04\x00\x01\0\0\0\x09",
            "there is no message of the kind 9",
        ),
        (
            b"tsdesk\x04\x00\x02\0\0\0\x01\x04",
            "a message is malformed at its desk",
        ),
        (
            b"tsdesk\x04\x00\x03\0\0\0\x04\x01\x00",
            "a message is malformed at its end",
        ),
        (
            b"tsdesk\x04\x00\x02\0\0\0\x02\xff",
            "a message is malformed at its sentence",
        ),
        (
            // A command, but no parcel.
            b"tsdesk\x04\x00\x02\0\0\0\x03\x01",
            "a message is malformed at its parcel",
        ),
    ];
    for (bytes, expected) in rows {
        let found = Frames::default()
            .next(bytes)
            .map_err(|broken| broken.to_string());
        assert_eq!(found, Err(expected.to_owned()));
    }
}

#[test]
fn another_protocol_is_refused_at_its_first_byte() {
    assert_eq!(Frames::default().next(b"*"), Err(Broken::Opening));
    let begun = Frames::default().next(b"tsde");
    assert_eq!(begun, Ok(MessageScan::Incomplete { skipped: 0 }));
}

#[test]
fn a_refusal_is_cut_at_a_character_where_it_is_too_long() {
    let mut bytes = Vec::new();
    put_message(&mut bytes, Message::Refusal(&"\u{e9}".repeat(150)));
    let stream = opened(&bytes);
    let cut = "\u{e9}".repeat(limits::REFUSAL_BYTES_MAX / 2);
    let (message, consumed) = (Message::Refusal(&cut), stream.len());
    let found = Frames::default().next(&stream);
    assert_eq!(found, Ok(MessageScan::Message { message, consumed }));
}
