//! The attributes of one tag.
//!
//! quick-xml finds the tag; its own iterator over attributes takes memory for each tag and lets
//! pass what XML forbids, so they are read here.

use quick_xml::escape::resolve_xml_entity;

use crate::{
    Flaw, MalformedRequest,
    limits::{ATTRIBUTE_BYTES_MAX, ATTRIBUTES_MAX},
    span::ByteSpan,
};

/// What may stand in a name; everything beyond ASCII may.
const IN_NAME: [bool; 256] = in_name();

const fn in_name() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-' | 0x80..);
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

pub(crate) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether this may be the name of an element or attribute.
pub(crate) fn is_name(name: &[u8]) -> bool {
    let begins = |&byte: &u8| !matches!(byte, b'0'..=b'9' | b'.' | b'-');
    name.first().is_some_and(begins) && name.iter().all(|&byte| IN_NAME[usize::from(byte)])
}

/// Whether `&name;` is one of the five predefined entities or a character by its number.
pub(crate) fn is_reference(name: &str) -> bool {
    let Some(number) = name.strip_prefix('#') else {
        return resolve_xml_entity(name).is_some();
    };
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, radix).ok();
    is_number && code.and_then(char::from_u32).is_some_and(is_character)
}

/// Whether XML allows the character at all.
pub(crate) const fn is_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Reads the attributes that lie in `xml[from..to]`, behind the name of a tag, and gives each to
/// `take`.
#[inline]
pub(crate) fn attributes<'x>(
    xml: &'x str,
    from: usize,
    to: usize,
    mut take: impl FnMut(&'x [u8], ByteSpan),
) -> Result<(), MalformedRequest> {
    let mut tag = TagReader { xml, at: from, to };
    let mut names: [&[u8]; ATTRIBUTES_MAX] = [&[]; ATTRIBUTES_MAX];
    for count in 0.. {
        let blanks = tag.skip_blanks();
        if tag.at == to {
            break;
        }
        if !blanks {
            return Err(tag.flaw(Flaw::Attribute));
        }
        let name = tag.name()?;
        let value = tag.value()?;
        let Some((slot, before)) = names.get_mut(..=count).and_then(<[_]>::split_last_mut) else {
            return Err(tag.flaw(Flaw::TooManyAttributes));
        };
        if before.contains(&name) {
            return Err(tag.flaw(Flaw::AttributeTwice));
        }
        *slot = name;
        take(name, value);
    }
    Ok(())
}

struct TagReader<'x> {
    xml: &'x str,
    at: usize,
    to: usize,
}

impl<'x> TagReader<'x> {
    const fn flaw(&self, flaw: Flaw) -> MalformedRequest {
        MalformedRequest { flaw, at: self.at }
    }

    #[inline]
    fn rest(&self) -> &'x [u8] {
        let tag = self.xml.as_bytes().get(self.at..self.to);
        tag.expect("a tag lies within its frame")
    }

    /// Whether there was one.
    #[inline]
    fn skip_blanks(&mut self) -> bool {
        let rest = self.rest();
        let blanks = rest.iter().take_while(|&&byte| is_blank(byte)).count();
        self.at += blanks;
        blanks > 0
    }

    /// A name, and the equals sign behind it.
    #[inline]
    fn name(&mut self) -> Result<&'x [u8], MalformedRequest> {
        let rest = self.rest();
        let end = rest.iter().position(|&byte| !IN_NAME[usize::from(byte)]);
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        if !is_name(name) {
            return Err(self.flaw(Flaw::Name));
        }
        self.at += name.len();
        self.skip_blanks();
        if self.rest().first() != Some(&b'=') {
            return Err(self.flaw(Flaw::Attribute));
        }
        self.at += 1;
        self.skip_blanks();
        Ok(name)
    }

    /// A quoted value, without the quotes.
    #[inline]
    fn value(&mut self) -> Result<ByteSpan, MalformedRequest> {
        let Some((&quote @ (b'"' | b'\''), rest)) = self.rest().split_first() else {
            return Err(self.flaw(Flaw::Attribute));
        };
        let start = self.at + 1;
        let mut has_references = false;
        let mut length = 0;
        for &byte in rest {
            match byte {
                byte if byte == quote => break,
                b'<' => return Err(self.flaw(Flaw::Attribute)),
                b'&' => has_references = true,
                _ => {}
            }
            length += 1;
        }
        if length == rest.len() {
            return Err(self.flaw(Flaw::Attribute));
        }
        if length > ATTRIBUTE_BYTES_MAX {
            return Err(self.flaw(Flaw::AttributeTooLong));
        }
        let value = ByteSpan::new(start, start + length);
        if has_references && !value.of(self.xml).is_some_and(has_sound_references) {
            return Err(self.flaw(Flaw::Reference));
        }
        self.at = start + length + 1;
        Ok(value)
    }
}

fn has_sound_references(value: &str) -> bool {
    let mut pieces = value.split('&').skip(1);
    pieces.all(|piece| {
        piece
            .split_once(';')
            .is_some_and(|(name, _)| is_reference(name))
    })
}
