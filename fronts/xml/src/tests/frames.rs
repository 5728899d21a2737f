//! Frames in a stream.

use super::*;
use crate::Fault;

const MOST: u32 = 1_000;

fn incomplete(skipped: usize, needed: usize) -> Framed {
    Framed::Incomplete { skipped, needed }
}

#[test]
fn a_length_line_is_digits_and_a_line_end() {
    let found = |xml: std::ops::Range<usize>| Framed::Frame {
        consumed: xml.end,
        xml,
    };
    let rows: &[(&[u8], Framed)] = &[
        (b"", incomplete(0, 1)),
        (b"\r\n\0 \t", incomplete(5, 1)),
        (b"1", incomplete(0, 2)),
        (b"12\r", incomplete(0, 4)),
        (b"12\n<a", incomplete(0, 15)),
        (b"\n\n12\r\n", incomplete(2, 16)),
        (b"4\n<a/>9", found(2..6)),
        (b" \0\r\n4\r\n<a/>", found(7..11)),
        (b"0\n", found(2..2)),
        (b"0000000004\n<a/>", found(11..15)),
        (b"1000\n", incomplete(0, 1_005)),
        (b"1001", Framed::Broken(Fault::TooLong { most: MOST })),
        (
            b"9999999999\n",
            Framed::Broken(Fault::TooLong { most: MOST }),
        ),
        (b"00000000004\n<a/>", Framed::Broken(Fault::LengthDigits)),
        (
            b"99999999999999999999999",
            Framed::Broken(Fault::LengthDigits),
        ),
        (b"<create/>", Framed::Broken(Fault::LengthLine)),
        (b"-5\n", Framed::Broken(Fault::LengthLine)),
        (b"+5\n", Framed::Broken(Fault::LengthLine)),
        (b"5 \n", Framed::Broken(Fault::LengthLine)),
        (b"5\r5", Framed::Broken(Fault::LengthLine)),
        (b"5.0\n", Framed::Broken(Fault::LengthLine)),
        (b"0x5\n", Framed::Broken(Fault::LengthLine)),
        (b"GET / HTTP/1.1\r\n", Framed::Broken(Fault::LengthLine)),
        (b"\xef\xbb\xbf5\n", Framed::Broken(Fault::LengthLine)),
    ];
    for (bytes, expected) in rows {
        assert_eq!(frame(bytes, MOST), *expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_broken_stream_has_one_error_as_its_last_answer() {
    let stream = format!("{}17000000\n<create/>", framed("<create/>"));
    let (answer, _) = serve(Options::default(), stream.as_bytes());
    assert_eq!(
        answer,
        "<results></results><results><error>a request has at most 16777216 bytes</error></results>"
    );
}

/// Feeds a stream byte by byte, looking only when enough has come, as a door does.
#[test]
fn frames_that_come_byte_by_byte_are_the_same() {
    let xml = [
        r#"<create><account id="1" balance="5"/></create>"#,
        "",
        "<transactions id='1'><query id='1'/></transactions>",
    ];
    let stream = format!(
        "\n {}\0{}\r\n{}",
        framed(xml[0]),
        framed(xml[1]),
        framed(xml[2])
    );
    let (mut unread, mut needed, mut found) = (Vec::new(), 1, Vec::new());
    for &byte in stream.as_bytes() {
        unread.push(byte);
        let looked = frame(&unread, MOST);
        if unread.len() < needed {
            assert!(
                matches!(looked, Framed::Incomplete { .. }),
                "looking earlier finds nothing"
            );
            continue;
        }
        match looked {
            Framed::Incomplete {
                skipped,
                needed: more,
            } => {
                unread.drain(..skipped);
                needed = more;
            }
            Framed::Frame { xml, consumed } => {
                found.push(String::from_utf8(unread[xml].to_vec()).unwrap());
                unread.drain(..consumed);
                needed = 1;
            }
            Framed::Broken(fault) => panic!("{fault}"),
        }
    }
    assert_eq!(found, xml);
    assert_eq!(unread, b"");
}
