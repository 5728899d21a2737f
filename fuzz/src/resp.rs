//! RESP requests: any bytes are refused, wanting, or requests, wherever they are cut.

use turnstile_resp::{Decoded, Decoder, Fault};

type DecodedRequests = Vec<Vec<Vec<u8>>>;

/// Decodes `bytes` at once and in pieces whose size the first byte chooses, and compares.
pub fn run(bytes: &[u8]) {
    let Some((&piece, stream)) = bytes.split_first() else {
        return;
    };
    let whole = decode(stream, stream.len().max(1));
    let pieces = decode(stream, usize::from(piece).max(1));
    assert_eq!(whole, pieces);
}

/// The requests of a stream that comes in pieces, and the fault that ended it.
fn decode(stream: &[u8], piece: usize) -> (DecodedRequests, Option<Fault>) {
    let mut decoder = Decoder::new();
    let (mut requests, mut start, mut end) = (DecodedRequests::new(), 0, 0);
    loop {
        match decoder.decode(&stream[start..end]) {
            Ok(Decoded::Request { arguments, length }) => {
                assert!(length > 0 && start + length <= end);
                requests.push(arguments.iter().map(<[u8]>::to_vec).collect());
                start += length;
            }
            Ok(Decoded::Incomplete) if end == stream.len() => return (requests, None),
            Ok(Decoded::Incomplete) => end = (end + piece).min(stream.len()),
            Err(fault) => return (requests, Some(fault)),
        }
    }
}

#[test]
fn a_pipeline_survives_every_cut() {
    let stream = b"*1\r\n$4\r\nPING\r\nECHO 'a b'\n*2\r\n$1\r\nx\r\n$0\r\n\r\n*1\r\n$-1\r\n";
    for piece in 1..=u8::try_from(stream.len()).expect("a short stream") {
        run(&[&[piece][..], stream].concat());
    }
    assert_eq!(decode(stream, 3).1, Some(Fault::Length));
}
