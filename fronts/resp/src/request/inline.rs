//! Lines typed by hand, as a terminal or `telnet` sends them.

use super::{ARGUMENTS_MAX, Fault, Span};

/// Splits a line into words at blanks. A word may stand between quotes, single or double, to keep
/// its blanks; there are no escapes, so that every word is a piece of the line itself.
pub(super) fn split(line: &[u8], spans: &mut Vec<Span>) -> Result<(), Fault> {
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        if is_blank(byte) {
            at += 1;
            continue;
        }
        if spans.len() == ARGUMENTS_MAX {
            return Err(Fault::Arguments);
        }
        at = match byte {
            b'"' | b'\'' => quoted(line, at, spans)?,
            _ => plain(line, at, spans)?,
        };
    }
    if spoken_by_a_browser(line, spans) {
        Err(Fault::Browser)
    } else {
        Ok(())
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The word that opens with the quote at `open`; answers where to go on.
fn quoted(line: &[u8], open: usize, spans: &mut Vec<Span>) -> Result<usize, Fault> {
    let start = open + 1;
    let rest = line.get(start..).unwrap_or_default();
    let quote = line.get(open);
    let length = rest
        .iter()
        .position(|byte| Some(byte) == quote)
        .ok_or(Fault::Quotes)?;
    let (word, after) = rest.split_at(length);
    if word.contains(&b'\\') {
        return Err(Fault::Escape);
    }
    match after.get(1) {
        Some(&byte) if !is_blank(byte) => Err(Fault::Quotes),
        _ => {
            spans.push(Span::new(start, start + length));
            Ok(start + length + 1)
        }
    }
}

fn plain(line: &[u8], start: usize, spans: &mut Vec<Span>) -> Result<usize, Fault> {
    let rest = line.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .position(|&byte| is_blank(byte))
        .unwrap_or(rest.len());
    if rest
        .iter()
        .take(length)
        .any(|byte| matches!(byte, b'"' | b'\''))
    {
        return Err(Fault::Quotes);
    }
    spans.push(Span::new(start, start + length));
    Ok(start + length)
}

/// A page in a browser can be made to send `POST / HTTP/1.1` with RESP in its body: whoever begins
/// so is not a client of ours.
fn spoken_by_a_browser(line: &[u8], spans: &[Span]) -> bool {
    let word = |place: usize| {
        let span = spans.get(place)?;
        line.get(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?)
    };
    let Some(first) = word(0) else { return false };
    first.eq_ignore_ascii_case(b"post")
        || first.eq_ignore_ascii_case(b"host:")
        || (first.eq_ignore_ascii_case(b"get")
            && word(1).is_some_and(|target| target.starts_with(b"/")))
}
