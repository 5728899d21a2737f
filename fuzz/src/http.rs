//! HTTP requests: the same reading wherever the bytes are cut, and the same as another reader's.

use httparse::{EMPTY_HEADER, Request, Status, parse_chunk_size};
use turnstile_http::{Framing, FramingViolation, Scanner};

/// More header fields than the scanner lets through.
const FIELDS_MAX: usize = 101;

/// What the scanner makes of a stream: where it stands, the requests that began, and what was wrong.
type Reading = (Framing, u64, Option<FramingViolation>);

/// Scans `bytes` at once and in pieces whose size the first byte chooses, and compares. If the
/// scanner lets the whole stream through, `httparse` must find the same requests in it or refuse one.
pub fn run(bytes: &[u8]) {
    let Some((&piece, stream)) = bytes.split_first() else {
        return;
    };
    let whole = scan(stream, stream.len().max(1));
    let pieces = scan(stream, usize::from(piece).max(1));
    assert_eq!(whole, pieces);
    if let (Framing::Between, requests, None) = whole {
        let counted = count(stream);
        assert!(matches!(counted, Err(RejectedStream)) || counted == Ok(Some(requests)));
    }
}

fn scan(stream: &[u8], piece: usize) -> Reading {
    let mut scanner = Scanner::new();
    for piece in stream.chunks(piece) {
        if let Err((_, violation)) = scanner.follow(piece) {
            // Where it stands is of no use after an error.
            return (Framing::Between, scanner.requests(), Some(violation));
        }
    }
    (scanner.framing(), scanner.requests(), None)
}

/// `httparse` refuses a request of the stream, and so will the server.
#[derive(Debug, PartialEq)]
struct RejectedStream;

/// How many requests `httparse` finds; `None` if the last one is not whole.
fn count(mut stream: &[u8]) -> Result<Option<u64>, RejectedStream> {
    let mut requests = 0;
    while !stream.is_empty() {
        let mut fields = [EMPTY_HEADER; FIELDS_MAX];
        let mut request = Request::new(&mut fields);
        let Status::Complete(head) = request.parse(stream).map_err(|_invalid| RejectedStream)?
        else {
            return Ok(None);
        };
        let field = |name: &str| {
            let mut fields = request.headers.iter();
            let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(field.value).ok()
        };
        let body = match (field("transfer-encoding"), field("content-length")) {
            (Some(_), _) => chunks(&stream[head..])?,
            (None, Some(length)) => Some(length.trim().parse().map_err(|_invalid| RejectedStream)?),
            (None, None) => Some(0),
        };
        let rest = body.and_then(|body: usize| stream.get(head + body..));
        let Some(rest) = rest else {
            return Ok(None);
        };
        stream = rest;
        requests += 1;
    }
    Ok(Some(requests))
}

/// The length of a body in chunks, up to the empty line at its end; `None` if it is not whole.
fn chunks(body: &[u8]) -> Result<Option<usize>, RejectedStream> {
    let mut at = 0;
    loop {
        let status = parse_chunk_size(&body[at..]).map_err(|_invalid| RejectedStream)?;
        let Status::Complete((line, length)) = status else {
            return Ok(None);
        };
        let length = usize::try_from(length).expect("a length fits the memory");
        at += line + length;
        match body.get(at..at + 2) {
            Some(b"\r\n") => at += 2,
            Some(_) => return Err(RejectedStream),
            None => return Ok(None),
        }
        if length == 0 {
            return Ok(Some(at));
        }
    }
}

#[test]
fn a_pipeline_survives_every_cut() {
    let stream = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n\
        POST /b HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc\
        POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    for piece in 1..=u8::MAX {
        run(&[&[piece][..], stream].concat());
    }
    assert_eq!(scan(stream, 3), (Framing::Between, 3, None));
    assert_eq!(count(stream), Ok(Some(3)));
}

#[test]
fn every_changed_byte_is_read_alike_or_refused() {
    let stream = b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n";
    for at in 0..stream.len() {
        for byte in 0..=u8::MAX {
            let mut changed = [&[1][..], stream].concat();
            changed[at + 1] = byte;
            run(&changed);
        }
    }
}
