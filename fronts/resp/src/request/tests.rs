//! Every cut of a stream gives the same requests, and every lie about a length is found in time.

use super::*;

/// All requests of a stream that comes in pieces of `piece` bytes, and the fault that ended it.
fn in_pieces(stream: &[u8], piece: usize) -> (Vec<Vec<Vec<u8>>>, Option<Fault>) {
    let mut decoder = Decoder::new();
    let (mut requests, mut start, mut end) = (Vec::new(), 0, 0);
    loop {
        match decoder.decode(&stream[start..end]) {
            Ok(Decoded::Request { arguments, length }) => {
                requests.push(arguments.iter().map(<[u8]>::to_vec).collect());
                start += length;
            }
            Ok(Decoded::Incomplete) if end == stream.len() => return (requests, None),
            Ok(Decoded::Incomplete) => end = (end + piece).min(stream.len()),
            Err(fault) => return (requests, Some(fault)),
        }
    }
}

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ')
        .map(|word| word.as_bytes().to_vec())
        .collect()
}

#[test]
fn every_cut_of_a_stream_gives_the_same_requests() {
    let stream = b"*1\r\n$4\r\nPING\r\n\r\nECHO  'two words'\t\"\"\r\n*0\r\n\
                   *3\r\n$0\r\n\r\n$3\r\n\r\n\n\r\n$12\r\n$5\r\n*1\r\n\r\n\x00\xff\r\nping\n";
    let expected = vec![
        words("PING"),
        vec![],
        vec![b"ECHO".to_vec(), b"two words".to_vec(), vec![]],
        vec![],
        vec![
            vec![],
            b"\r\n\n".to_vec(),
            b"$5\r\n*1\r\n\r\n\x00\xff".to_vec(),
        ],
        words("ping"),
    ];
    for piece in 1..=stream.len() {
        assert_eq!(
            in_pieces(stream, piece),
            (expected.clone(), None),
            "pieces of {piece}"
        );
    }
}

#[test]
fn hostile_bytes_are_refused_wherever_they_are_cut() {
    let rows: &[(&[u8], Fault)] = &[
        (b"*-1\r\n", Fault::Length),
        (b"*\r\n", Fault::Length),
        (b"*1x\r\n", Fault::Length),
        (b"*1\rx", Fault::Length),
        (b"*+1\r\n", Fault::Length),
        (b"*1025\r\n", Fault::Arguments),
        (b"*1048576\r\n", Fault::Arguments),
        (b"*99999999999999999999999", Fault::Arguments),
        (b"*1\r\n$-1\r\n", Fault::Length),
        (b"*1\r\n$65537\r\n", Fault::Argument),
        (b"*1\r\n$536870912\r\n", Fault::Argument),
        (b"*1\r\n$18446744073709551616\r\n", Fault::Argument),
        (b"*1\r\n+PING\r\n", Fault::Dollar(b'+')),
        (b"*2\r\n$4\r\nPING\r\nx", Fault::Dollar(b'x')),
        (b"*1\r\n$4\r\nPINGS\r\n", Fault::Terminator),
        (b"*1\r\n$4\r\nPING\rS", Fault::Terminator),
        (b"POST / HTTP/1.1\r\n", Fault::Browser),
        (b"post x\r\n", Fault::Browser),
        (b"Host: localhost\r\n", Fault::Browser),
        (b"GET / HTTP/1.1\r\n", Fault::Browser),
        (b"ECHO 'a\r\n", Fault::Quotes),
        (b"ECHO \"a\"b\r\n", Fault::Quotes),
        (b"ECHO a\"b\"\r\n", Fault::Quotes),
        (b"ECHO \"a\\n\"\r\n", Fault::Escape),
    ];
    for (stream, fault) in rows {
        for piece in 1..=stream.len() {
            let found = in_pieces(stream, piece);
            assert_eq!(found, (vec![], Some(*fault)), "{}", stream.escape_ascii());
        }
    }
}

#[test]
fn a_typed_get_of_a_key_is_no_browser() {
    assert_eq!(
        in_pieces(b"GET key\r\n", 100),
        (vec![words("GET key")], None)
    );
}

#[test]
fn limits_are_exact() {
    let argument = |length: usize| {
        let mut stream = format!("*1\r\n${length}\r\n").into_bytes();
        stream.extend(vec![b'x'; length]);
        stream.extend(b"\r\n");
        in_pieces(&stream, stream.len()).1
    };
    assert_eq!(argument(ARGUMENT_BYTES_MAX), None);
    assert_eq!(argument(ARGUMENT_BYTES_MAX + 1), Some(Fault::Argument));

    let line = |length: usize| {
        let stream = [vec![b'x'; length], b"\n".to_vec()].concat();
        in_pieces(&stream, 1_000).1
    };
    assert_eq!(line(INLINE_BYTES_MAX), None);
    assert_eq!(line(INLINE_BYTES_MAX + 1), Some(Fault::Inline));
    assert_eq!(
        in_pieces(&[b'x'; INLINE_BYTES_MAX + 1], 7).1,
        Some(Fault::Inline),
        "no end seen"
    );

    let many = |count: usize| {
        let mut stream = format!("*{count}\r\n").into_bytes();
        stream.extend(b"$1\r\nx\r\n".repeat(count));
        let (requests, fault) = in_pieces(&stream, stream.len());
        (requests.first().map(Vec::len), fault)
    };
    assert_eq!(many(ARGUMENTS_MAX), (Some(ARGUMENTS_MAX), None));
    assert_eq!(many(ARGUMENTS_MAX + 1), (None, Some(Fault::Arguments)));
}

#[test]
fn a_frame_is_refused_by_the_lengths_it_declares() {
    let mut stream = b"*1024\r\n".to_vec();
    let piece = [
        b"$65536\r\n".to_vec(),
        vec![b'x'; ARGUMENT_BYTES_MAX],
        b"\r\n".to_vec(),
    ]
    .concat();
    for _ in 0..15 {
        stream.extend(&piece);
    }
    assert_eq!(in_pieces(&stream, 50_000), (vec![], None));
    stream.extend(b"$65536\r\n");
    assert_eq!(in_pieces(&stream, 50_000), (vec![], Some(Fault::Frame)));
}
