//! Replies as bytes, in the older protocol and the newer.

use std::{fmt, io::Write};

/// Which protocol a connection has agreed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Resp2,
    Resp3,
}

/// All numbers of two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [*b"00"; 100];
    let mut number = 1;
    while number < pairs.len() {
        let [tens, ones] = pairs[number - 1];
        pairs[number] = if ones == b'9' {
            [tens + 1, b'0']
        } else {
            [tens, ones + 1]
        };
        number += 1;
    }
    pairs
};

/// The most bytes of a scaled number of 64 bits: twenty digits and the point.
const SCALED_BYTES: usize = 21;

/// Appends replies to a connection's output.
///
/// What only RESP3 can say is said in the nearest form of RESP2: a map as a flat array, a boolean
/// as 0 or 1, a push as an array.
#[derive(Debug)]
pub struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    protocol: Protocol,
}

impl<'a> Encoder<'a> {
    pub const fn new(out: &'a mut Vec<u8>, protocol: Protocol) -> Self {
        Self { out, protocol }
    }

    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub fn ok(&mut self) {
        self.simple("OK");
    }

    /// A short word. It MUST NOT hold a line break.
    pub fn simple(&mut self, word: &str) {
        self.out.push(b'+');
        self.out.extend_from_slice(word.as_bytes());
        self.line_end();
    }

    /// An error: its first word in capitals, then a sentence. Line breaks and other control
    /// characters in it, which can only come from what a peer sent, are replaced.
    pub fn error(&mut self, sentence: fmt::Arguments<'_>) {
        self.out.push(b'-');
        let start = self.out.len();
        self.write(sentence);
        for byte in self.out.iter_mut().skip(start) {
            if byte.is_ascii_control() {
                *byte = b'?';
            }
        }
        self.line_end();
    }

    pub fn integer(&mut self, value: u64) {
        self.header(b':', value);
    }

    pub fn signed(&mut self, value: i64) {
        self.write(format_args!(":{value}\r\n"));
    }

    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.count(b'$', bytes.len());
        self.out.extend_from_slice(bytes);
        self.line_end();
    }

    /// A whole number as a bulk string.
    #[inline]
    pub fn whole(&mut self, value: u64) {
        let digit = |value: u64| b'0' + u8::try_from(value % 10).expect("a digit is below ten");
        // Most are small: head, digits and line end in one piece.
        match value {
            0..10 => {
                let line = [b'$', b'1', b'\r', b'\n', digit(value), b'\r', b'\n'];
                self.out.extend_from_slice(&line);
            }
            10..100 => {
                let (tens, ones) = (digit(value / 10), digit(value));
                let line = [b'$', b'2', b'\r', b'\n', tens, ones, b'\r', b'\n'];
                self.out.extend_from_slice(&line);
            }
            _ => {
                let digits = value.ilog10() + 1;
                self.header(b'$', u64::from(digits));
                self.digits(value);
            }
        }
    }

    /// `units / 10^scale` in its shortest form, without the detour of formatting: every answer to an
    /// order holds three such numbers. The scale is at most 18.
    #[inline]
    pub fn scaled(&mut self, units: u128, scale: u8) {
        // Nothing of a new order is filled, and nothing of a filled one is open.
        if units == 0 {
            return self.text("0");
        }
        match u64::try_from(units) {
            Ok(units) if scale == 0 => self.whole(units),
            Ok(units) => self.parts(units, scale),
            Err(_large) => self.large_parts(units, scale),
        }
    }

    fn parts(&mut self, units: u64, scale: u8) {
        let mut text = [0_u8; SCALED_BYTES];
        let mut at = SCALED_BYTES;
        let mut put = |byte| {
            at -= 1;
            text[at] = byte;
            at
        };
        let (mut rest, mut has_part) = (units, false);
        for _ in 0..scale {
            let digit = u8::try_from(rest % 10).expect("a digit is below ten");
            rest /= 10;
            if has_part || digit != 0 {
                put(b'0' + digit);
                has_part = true;
            }
        }
        if !has_part {
            return self.whole(rest);
        }
        put(b'.');
        loop {
            let start = put(b'0' + u8::try_from(rest % 10).expect("a digit is below ten"));
            rest /= 10;
            if rest == 0 {
                self.bulk(&text[start..]);
                return;
            }
        }
    }

    fn large_parts(&mut self, units: u128, scale: u8) {
        let (mut units, mut digits) = (units, usize::from(scale));
        while digits > 0 && units % 10 == 0 {
            units /= 10;
            digits -= 1;
        }
        let one = 10_u128.pow(u32::try_from(digits).expect("a scale is at most 18"));
        let (whole, rest) = (units / one, units % one);
        if digits == 0 {
            self.shown(whole);
        } else {
            self.shown(format_args!("{whole}.{rest:0digits$}"));
        }
    }

    #[inline]
    pub fn text(&mut self, text: &str) {
        self.bulk(text.as_bytes());
    }

    /// A bulk string of whatever is shown.
    pub fn shown(&mut self, value: impl fmt::Display) {
        let start = self.out.len();
        self.write(format_args!("{value}\r\n"));
        let length = self.out.len() - start - 2;
        let content = self.out.len();
        self.count(b'$', length);
        self.out
            .get_mut(start..)
            .expect("the start is within what was written")
            .rotate_left(content - start);
    }

    pub fn null(&mut self) {
        let null: &[u8] = match self.protocol {
            Protocol::Resp2 => b"$-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        };
        self.out.extend_from_slice(null);
    }

    /// No array, as `EXEC` answers when it did nothing.
    pub fn null_array(&mut self) {
        let null: &[u8] = match self.protocol {
            Protocol::Resp2 => b"*-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        };
        self.out.extend_from_slice(null);
    }

    pub fn boolean(&mut self, value: bool) {
        let shown: &[u8] = match (self.protocol, value) {
            (Protocol::Resp2, false) => b":0\r\n",
            (Protocol::Resp2, true) => b":1\r\n",
            (Protocol::Resp3, false) => b"#f\r\n",
            (Protocol::Resp3, true) => b"#t\r\n",
        };
        self.out.extend_from_slice(shown);
    }

    /// The head of an array; `length` values follow.
    #[inline]
    pub fn array(&mut self, length: usize) {
        self.count(b'*', length);
    }

    /// The head of a set; `length` values follow.
    pub fn set(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.count(b'*', length),
            Protocol::Resp3 => self.count(b'~', length),
        }
    }

    /// The head of a map; `length` pairs follow.
    pub fn map(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.count(b'*', length * 2),
            Protocol::Resp3 => self.count(b'%', length),
        }
    }

    /// The head of a message that answers no request; `length` values follow.
    pub fn push(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.count(b'*', length),
            Protocol::Resp3 => self.count(b'>', length),
        }
    }

    #[inline]
    fn count(&mut self, kind: u8, count: usize) {
        self.header(kind, u64::try_from(count).expect("a length fits 64 bits"));
    }

    #[inline]
    fn header(&mut self, kind: u8, value: u64) {
        let digit = |value: u64| b'0' + u8::try_from(value % 10).expect("a digit is below ten");
        // Counts and lengths are small: a line of known length is written in one piece.
        match value {
            0..10 => {
                let line = [kind, digit(value), b'\r', b'\n'];
                return self.out.extend_from_slice(&line);
            }
            10..100 => {
                let line = [kind, digit(value / 10), digit(value), b'\r', b'\n'];
                return self.out.extend_from_slice(&line);
            }
            _ => {}
        }
        self.out.push(kind);
        self.digits(value);
    }

    /// A number and the line end.
    fn digits(&mut self, value: u64) {
        // At most twenty digits and the line end, filled from the back, two digits at a time.
        let mut line = [0_u8; 22];
        line[20] = b'\r';
        line[21] = b'\n';
        let mut at = 20;
        let mut rest = value;
        while rest >= 100 {
            let pair = usize::try_from(rest % 100).expect("two digits fit");
            rest /= 100;
            at -= 2;
            line[at..at + 2].copy_from_slice(&PAIRS[pair]);
        }
        let last = usize::try_from(rest).expect("two digits fit");
        at -= 2;
        line[at..at + 2].copy_from_slice(&PAIRS[last]);
        if rest < 10 {
            at += 1;
        }
        self.out.extend_from_slice(&line[at..]);
    }

    #[inline]
    fn line_end(&mut self) {
        self.out.extend_from_slice(b"\r\n");
    }

    fn write(&mut self, content: fmt::Arguments<'_>) {
        self.out
            .write_fmt(content)
            .expect("writing to memory does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(put: impl Fn(&mut Encoder<'_>)) -> [String; 2] {
        [Protocol::Resp2, Protocol::Resp3].map(|protocol| {
            let mut out = b"before".to_vec();
            put(&mut Encoder::new(&mut out, protocol));
            String::from_utf8(out).unwrap()
        })
    }

    #[test]
    fn each_protocol_has_its_own_words() {
        let found = both(|reply| {
            reply.null();
            reply.null_array();
            reply.boolean(true);
            reply.map(2);
            reply.set(1);
            reply.push(3);
        });
        assert_eq!(
            found,
            [
                "before$-1\r\n*-1\r\n:1\r\n*4\r\n*1\r\n*3\r\n",
                "before_\r\n_\r\n#t\r\n%2\r\n~1\r\n>3\r\n",
            ]
        );
    }

    #[test]
    fn a_number_has_all_its_digits_however_many() {
        let bounds = (0..20).map(|digits| 10_u64.pow(digits));
        let around = bounds.flat_map(|bound| [bound - 1, bound, bound + 1]);
        for value in around.chain([1_234_567_890, u64::MAX]) {
            let mut out = Vec::new();
            let mut reply = Encoder::new(&mut out, Protocol::Resp2);
            reply.integer(value);
            reply.whole(value);
            let text = value.to_string();
            let expected = format!(":{text}\r\n${}\r\n{text}\r\n", text.len());
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn numbers_and_shown_values_carry_their_length() {
        let [found, _] = both(|reply| {
            reply.integer(0);
            reply.integer(u64::MAX);
            reply.signed(-7);
            reply.shown(1_234);
            reply.bulk(b"");
        });
        let expected = ":0\r\n:18446744073709551615\r\n:-7\r\n$4\r\n1234\r\n$0\r\n\r\n";
        assert_eq!(found, format!("before{expected}"));
    }

    #[test]
    fn an_error_is_one_line_whatever_a_peer_put_into_it() {
        let [found, _] = both(|reply| reply.error(format_args!("ERR no '{}'", "a\r\n+OK\x1b")));
        assert_eq!(found, "before-ERR no 'a??+OK?'\r\n");
    }
}
