//! The exchange in XML: any bytes are refused, wanting, or requests, wherever they are cut; and the
//! answer to any request is an answer.

use turnstile_xml::{
    Answers, Ask, Framed, Options, Requests,
    client::{self, Replies},
    frame, put_error,
};

/// Reads `bytes` as a stream, at once and in pieces whose size the first byte chooses, and as the
/// XML of one frame, so that the fuzzer need not find its length.
pub fn run(bytes: &[u8]) {
    let Some((&piece, rest)) = bytes.split_first() else {
        return;
    };
    let whole = serve(rest, rest.len().max(1));
    assert_eq!(whole, serve(rest, usize::from(piece).max(1)));
    let framed = [format!("{}\n", rest.len()).as_bytes(), rest].concat();
    let answer = serve(&framed, framed.len());
    let Framed::Frame { xml, consumed } = client::frame(&answer) else {
        panic!("a whole frame has a whole answer");
    };
    assert_eq!(consumed, answer.len());
    for reply in Replies::new(&answer[xml]).expect("it is UTF-8") {
        reply.expect("a client understands every answer");
    }
    if let Ok(replies) = Replies::new(rest) {
        assert!(replies.count() <= rest.len().max(1));
    }
}

/// The answers to a stream that comes in pieces, by a machine that does nothing it is asked.
fn serve(stream: &[u8], piece: usize) -> Vec<u8> {
    let options = Options::default();
    let mut requests = Requests::new(options);
    let (mut out, mut start, mut end) = (Vec::new(), 0, 0);
    loop {
        match frame(&stream[start..end], options.frame_bytes_max) {
            Framed::Incomplete { skipped, needed } => {
                assert!(needed > end - start - skipped);
                start += skipped;
                if end == stream.len() {
                    return out;
                }
                end = (end + piece).min(stream.len());
            }
            Framed::Broken(fault) => {
                put_error(&mut out, &options, fault);
                return out;
            }
            Framed::Frame { xml, consumed } => {
                request(&mut requests, &options, &stream[start..][xml], &mut out);
                start += consumed;
            }
        }
    }
}

fn request(requests: &mut Requests, options: &Options, xml: &[u8], out: &mut Vec<u8>) {
    let batch = match requests.read(xml) {
        Ok(batch) => batch,
        Err(malformed) => return put_error(out, options, malformed),
    };
    let answers = Answers::begin(out, options);
    for item in batch.items() {
        match item.ask {
            Ask::Nothing(why) => answers.invalid(out, &item.echo, &why),
            asked => answers.error(out, &item.echo, format_args!("{asked:?}")),
        }
    }
    answers.finish(out);
}

#[test]
fn a_pipeline_survives_every_cut() {
    let first = r#"<transactions id="1"><order sym="S" amount="-1" limit="2"/></transactions>"#;
    let second = r#"<create><account id="1" balance="x"/><a b='"'/></create>"#;
    let stream = format!(
        "\n{}\n{first}\0{}\r\n{second}1\n<x",
        first.len(),
        second.len()
    );
    for piece in 1..=255_u8 {
        run(&[&[piece], stream.as_bytes()].concat());
    }
    run(format!("x{second}").as_bytes());
    let answer = String::from_utf8(serve(stream.as_bytes(), 3)).expect("it is UTF-8");
    assert!(answer.starts_with(r#"<results><error sym="S" amount="-1" limit="2">Command(Order("#));
    assert_eq!(answer.matches("<results>").count(), 4);
}
