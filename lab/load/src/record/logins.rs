//! Stars in the place of the secrets of those who log in.

use std::ops::Range;

use turnstile_client::resp::{ReplyLimits, Token, token};

/// Replaces what a whole request says of a name and a key, in `AUTH` and in `HELLO ... AUTH`.
pub(super) fn hide(request: &mut [u8]) {
    let words = words(request);
    // In a line that somebody types, a word may have quotes.
    let is = |word: &Range<usize>, text: &[u8]| {
        let bytes = request[word.clone()].iter();
        let plain = bytes.filter(|byte| !matches!(byte, b'"' | b'\''));
        plain.map(u8::to_ascii_uppercase).eq(text.iter().copied())
    };
    let secrets = match words.first() {
        Some(first) if is(first, b"AUTH") => 1..words.len(),
        Some(first) if is(first, b"HELLO") => {
            let login = words.iter().position(|word| is(word, b"AUTH"));
            login.map_or(0..0, |at| at + 1..words.len())
        }
        _ => 0..0,
    };
    for secret in &words[secrets] {
        request[secret.clone()].fill(b'*');
    }
}

/// Where the words of a request are, which is an array of strings or a line.
fn words(request: &[u8]) -> Vec<Range<usize>> {
    if request.first() == Some(&b'*') {
        return strings(request);
    }
    let mut words = Vec::new();
    let mut from = 0;
    for word in request.split(u8::is_ascii_whitespace) {
        if !word.is_empty() {
            words.push(from..from + word.len());
        }
        from += word.len() + 1;
    }
    words
}

fn strings(request: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut used = 0;
    while let Ok(Some((token, length))) = token(&request[used..], &ReplyLimits::REPLY) {
        used += length;
        if let Token::Bulk(bytes) = token {
            let end = used - b"\r\n".len();
            found.push(end - bytes.len()..end);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(request: &str, expected: &str) {
        let mut bytes = request.as_bytes().to_vec();
        hide(&mut bytes);
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn the_secrets_of_a_login_are_hidden_and_nothing_else() {
        check(
            "*2\r\n$4\r\nauth\r\n$6\r\nsec\r\nt\r\n",
            "*2\r\n$4\r\nauth\r\n$6\r\n******\r\n",
        );
        check(
            "*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$6\r\nsecret\r\n",
            "*3\r\n$4\r\nAUTH\r\n$3\r\n***\r\n$6\r\n******\r\n",
        );
        check(
            "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$6\r\nsecret\r\n",
            "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$3\r\n***\r\n$6\r\n******\r\n",
        );
        check("AUTH  secret\r\n", "AUTH  ******\r\n");
        check("hello 3 auth ann secret\n", "hello 3 auth *** ******\n");
        // As people type it, a word may have quotes.
        check("\"AUTH\" secret\r\n", "\"AUTH\" ******\r\n");
        check("'auth' \"se cret\"\r\n", "'auth' *** *****\r\n");
        check("A\"UTH\" secret\r\n", "A\"UTH\" ******\r\n");
        check(
            "HELLO 3 \"AUTH\" ann secret\r\n",
            "HELLO 3 \"AUTH\" *** ******\r\n",
        );
        for other in [
            "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n",
            "*2\r\n$4\r\nECHO\r\n$4\r\nAUTH\r\n",
            "PING AUTH x\r\n",
            "\r\n",
            "",
        ] {
            check(other, other);
        }
    }
}
