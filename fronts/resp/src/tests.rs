//! Requests as tests write them: typed, or framed from any words. For the tests of every service.

mod reference;
mod words;

use proptest::prelude::*;

use crate::{
    Arguments, Call, Decoded, Decoder, Encoder, Protocol,
    catalogue::{Action, COMMANDS, Catalogue, Syntax, Unknown},
};

/// Hands over what the catalogue finds for a typed line, or its error, and the line's arguments.
pub(crate) fn typed<T>(
    line: &str,
    take: impl FnOnce(Result<Action, Unknown<'_>>, Arguments<'_, '_>) -> T,
) -> T {
    let line = format!("{line}\n");
    decoded(line.as_bytes(), |arguments| {
        take(Catalogue::new().resolve(&arguments), arguments)
    })
}

/// What the tests of one service say of typed lines: its [`Action`], and what reads its arguments.
macro_rules! typed_lines {
    ($action:ident, |$call:ident, $arguments:ident| $parse:expr) => {
        /// What a typed line asks for, or the error it gets.
        fn asked(line: &str, check: impl FnOnce(Result<Request<'_>, String>)) {
            $crate::tests::typed(line, |found, $arguments| {
                check(match found {
                    Ok($crate::catalogue::Action::$action($call)) => {
                        $parse.map_err(|invalid| invalid.to_string())
                    }
                    other => Err(format!("{other:?}")),
                });
            });
        }
    };
}

pub(crate) use typed_lines;

/// Hands over the arguments of a framed request: the words of a command's name, and these.
pub(crate) fn framed<T>(
    name: &str,
    words: &[Vec<u8>],
    take: impl FnOnce(Arguments<'_, '_>) -> T,
) -> T {
    let mut bytes = Vec::new();
    let mut frame = Encoder::new(&mut bytes, Protocol::Resp2);
    let name: Vec<&str> = name.split('|').collect();
    frame.array(name.len() + words.len());
    name.iter().for_each(|part| frame.text(part));
    words.iter().for_each(|word| frame.bulk(word));
    decoded(&bytes, take)
}

fn decoded<T>(bytes: &[u8], take: impl FnOnce(Arguments<'_, '_>) -> T) -> T {
    let mut decoder = Decoder::new();
    let Ok(Decoded::Request { arguments, .. }) = decoder.decode(bytes) else {
        panic!("{} is a whole request", bytes.escape_ascii());
    };
    take(arguments)
}

/// One of these words, or any bytes.
pub(crate) fn any_word(known: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => proptest::sample::select(known).prop_map(|word| word.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..70),
    ]
}

/// The operations of all services, and how each is written.
pub(crate) fn syntaxes() -> impl Iterator<Item = (Action, &'static Call, &'static Syntax)> {
    COMMANDS.iter().filter_map(|syntax| {
        let action = syntax.action?;
        Some((action, action.call()?, syntax))
    })
}

/// A reply on one line: line ends become `|`.
pub(crate) fn shown(protocol: Protocol, put: impl FnOnce(&mut Encoder<'_>)) -> String {
    let mut out = Vec::new();
    put(&mut Encoder::new(&mut out, protocol));
    String::from_utf8(out)
        .expect("a reply is text")
        .replace("\r\n", "|")
}
