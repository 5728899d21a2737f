//! Every row is one way to make two readers disagree; whole and byte by byte, the verdict is one.

use super::*;

/// The verdict on `bytes`, after checking that it does not depend on how they are cut.
fn check(bytes: &[u8]) -> Result<Framing, (usize, FramingViolation)> {
    let mut whole = Scanner::new();
    let verdict = whole.follow(bytes).map(|()| whole.framing());
    let mut pieces = Scanner::new();
    let cut = bytes
        .chunks(1)
        .try_for_each(|byte| pieces.follow(byte))
        .map(|()| pieces.framing());
    assert_eq!(
        verdict.map_err(|(_, wrong)| wrong),
        cut.map_err(|(_, wrong)| wrong),
        "{}",
        bytes.escape_ascii()
    );
    verdict
}

#[test]
fn heads_on_which_two_readers_could_disagree_are_refused() {
    let rows: [(&str, FramingViolation); 22] = [
        (
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            FramingViolation::TwoFramings,
        ),
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
            FramingViolation::TwoFramings,
        ),
        (
            "Transfer-Encoding: xchunked\r\n\r\n",
            FramingViolation::TransferCoding,
        ),
        (
            "Transfer-Encoding: identity\r\n\r\n",
            FramingViolation::TransferCoding,
        ),
        (
            "Transfer-Encoding: gzip, chunked\r\n\r\n",
            FramingViolation::TransferCoding,
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            FramingViolation::TransferCoding,
        ),
        (
            "Transfer-Encoding:\r\n\r\n",
            FramingViolation::TransferCoding,
        ),
        (
            "Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
            FramingViolation::Length,
        ),
        (
            "Content-Length: 3\r\nContent-Length: 3\r\n\r\n",
            FramingViolation::Length,
        ),
        ("Content-Length: 3, 3\r\n\r\n", FramingViolation::Length),
        ("Content-Length: +3\r\n\r\n", FramingViolation::Length),
        ("Content-Length: 0x3\r\n\r\n", FramingViolation::Length),
        ("Content-Length: -1\r\n\r\n", FramingViolation::Length),
        (
            "Content-Length: 99999999999999999999\r\n\r\n",
            FramingViolation::Length,
        ),
        ("Content-Length:\r\n\r\n", FramingViolation::Length),
        ("Content-Length : 3\r\n\r\n", FramingViolation::FieldName),
        (" Content-Length: 3\r\n\r\n", FramingViolation::FoldedField),
        ("A: b\r\n\tc\r\n\r\n", FramingViolation::FoldedField),
        ("A: b\n\r\n", FramingViolation::LineEnd),
        ("A: b\rContent-Length: 3\r\n\r\n", FramingViolation::LineEnd),
        ("A: b\0c\r\n\r\n", FramingViolation::LineEnd),
        ("no colon\r\n\r\n", FramingViolation::FieldName),
    ];
    for (fields, expected) in rows {
        let head = format!("POST /x HTTP/1.1\r\nHost: localhost\r\n{fields}");
        assert_eq!(check(head.as_bytes()), Err((0, expected)), "{fields:?}");
    }
}

#[test]
fn request_lines_have_one_form() {
    for line in [
        "GET / HTTP/2.0",
        "GET /",
        "GET  / HTTP/1.1",
        "GET / x HTTP/1.1",
        " GET / HTTP/1.1",
        "",
        "G(T / HTTP/1.1",
        "GET /\u{e9} HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET\t/ HTTP/1.1",
    ] {
        let head = format!("{line}\r\n\r\n");
        assert_eq!(
            check(head.as_bytes()),
            Err((0, FramingViolation::RequestLine)),
            "{line:?}"
        );
    }
    assert_eq!(
        check(b"GET / HTTP/1.1\n\r\n"),
        Err((0, FramingViolation::LineEnd))
    );
    assert_eq!(check(b"GET / HTTP/1.0\r\n\r\n"), Ok(Framing::Between));
}

#[test]
fn lengths_and_sizes_have_limits() {
    let head = |fields: &str| format!("POST /x HTTP/1.1\r\n{fields}\r\n");
    let rows = [
        (head("Content-Length: 65536\r\n"), Ok(Framing::Body)),
        (
            head("Content-Length: 65537\r\n"),
            Err((0, FramingViolation::BodyTooLarge)),
        ),
        (
            head("Content-Length: 9223372036854775807\r\n"),
            Err((0, FramingViolation::BodyTooLarge)),
        ),
        (head(&"A: b\r\n".repeat(100)), Ok(Framing::Between)),
        (
            head(&"A: b\r\n".repeat(101)),
            Err((0, FramingViolation::HeadTooLarge)),
        ),
        (
            head(&format!("A: {}\r\n", "b".repeat(16_384))),
            Err((0, FramingViolation::HeadTooLarge)),
        ),
        (
            format!("GET /{}", "a".repeat(16_384)),
            Err((0, FramingViolation::HeadTooLarge)),
        ),
    ];
    for (bytes, expected) in rows {
        assert_eq!(check(bytes.as_bytes()), expected, "{bytes:.60}");
    }
}

#[test]
fn pipelined_requests_before_a_violation_are_let_through() {
    let first = "POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
    let second = "GET /y HTTP/1.1\r\n\r\n";
    let bad = "GET /z HTTP/1.1\r\nA : b\r\n\r\n";
    let sound = format!("{first}{second}");
    assert_eq!(check(sound.as_bytes()), Ok(Framing::Between));
    let mut scanner = Scanner::new();
    assert_eq!(scanner.follow(sound.as_bytes()), Ok(()));
    assert_eq!(scanner.requests(), 2);
    assert_eq!(
        check(format!("{sound}{bad}").as_bytes()),
        Err((sound.len(), FramingViolation::FieldName))
    );
    assert_eq!(
        check(b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nab"),
        Ok(Framing::Body)
    );
    assert_eq!(check(b"POST /x HTTP/1.1\r\nContent-Len"), Ok(Framing::Head));
}

#[test]
fn a_body_may_come_in_plain_chunks_and_in_no_others() {
    let head = "POST /x HTTP/1.1\r\nTransfer-Encoding: Chunked \r\n\r\n";
    let whole = "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n";
    let largest = format!("10000\r\n{}\r\n0\r\n\r\n", "x".repeat(65_536));
    let beyond = format!("ffff\r\n{}\r\n2\r\n", "x".repeat(65_535));
    let rows = [
        (whole, Ok(Framing::Between)),
        ("0\r\n\r\n", Ok(Framing::Between)),
        (&largest, Ok(Framing::Between)),
        ("", Ok(Framing::Body)),
        ("3\r\nab", Ok(Framing::Body)),
        ("3\r\nabc\r\n0\r\n", Ok(Framing::Body)),
        ("10001\r\n", Err((0, FramingViolation::BodyTooLarge))),
        (&beyond, Err((0, FramingViolation::BodyTooLarge))),
        ("ffffffff\r\n", Err((0, FramingViolation::BodyTooLarge))),
        ("000000003\r\n", Err((0, FramingViolation::Chunk))),
        ("3;name=value\r\nabc\r\n", Err((0, FramingViolation::Chunk))),
        ("3 \r\nabc\r\n", Err((0, FramingViolation::Chunk))),
        ("+3\r\nabc\r\n", Err((0, FramingViolation::Chunk))),
        ("0x3\r\nabc\r\n", Err((0, FramingViolation::Chunk))),
        ("\r\n", Err((0, FramingViolation::Chunk))),
        ("3\nabc\r\n", Err((0, FramingViolation::LineEnd))),
        ("3\r\nabcd\r\n", Err((0, FramingViolation::Chunk))),
        ("3\r\nabc\n", Err((0, FramingViolation::LineEnd))),
        ("0\r\nTrailer: x\r\n\r\n", Err((0, FramingViolation::Chunk))),
        ("0\r\nA:b\r\n\r\n", Err((0, FramingViolation::Chunk))),
    ];
    for (body, expected) in rows {
        assert_eq!(
            check(format!("{head}{body}").as_bytes()),
            expected,
            "{body:.60}"
        );
    }
    let next = "GET /y HTTP/1.1\r\nA : b\r\n\r\n";
    let before = format!("{head}{whole}");
    assert_eq!(
        check(format!("{before}{next}").as_bytes()),
        Err((before.len(), FramingViolation::FieldName))
    );
    let old = "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(
        check(old.as_bytes()),
        Err((0, FramingViolation::TransferCoding))
    );
}
