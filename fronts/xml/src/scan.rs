//! One pass over a frame: is it well-formed, and where do its items lie?

use quick_xml::{
    Error, Reader,
    errors::{IllFormedError, SyntaxError},
    events::{BytesStart, Event},
};

use crate::{
    Flaw, Invalid, MalformedRequest,
    attributes::{attributes, is_blank, is_character, is_name, is_reference},
    limits::{DEPTH_MAX, ITEMS_MAX, PARTS_MAX},
    span::ByteSpan,
};

/// An item, as far as its place in the frame goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootChild {
    pub(crate) kind: Kind,
    /// The values that the kind names, in that order.
    pub(crate) values: [ByteSpan; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// id, balance
    Account,
    /// sym, id, shares
    Grant,
    /// sym, amount, limit
    Order,
    /// id
    Query,
    /// id
    Cancel,
    InCreate,
    InTransactions,
    /// sym, id
    InSymbol,
    /// sym
    EmptySymbol,
}

/// The root element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    Create,
    Transactions { id: ByteSpan },
}

impl Kind {
    /// Why an item that is out of place cannot be asked of the machine.
    pub(crate) const fn why_stray(self) -> Option<Invalid> {
        match self {
            Self::InCreate => Some(Invalid::InCreate),
            Self::InTransactions => Some(Invalid::InTransactions),
            Self::InSymbol => Some(Invalid::InSymbol),
            Self::EmptySymbol => Some(Invalid::EmptySymbol),
            Self::Account | Self::Grant | Self::Order | Self::Query | Self::Cancel => None,
        }
    }

    const fn names(self) -> &'static [&'static [u8]] {
        match self {
            Self::Account => &[b"id", b"balance"],
            Self::Grant | Self::InSymbol => &[b"sym", b"id"],
            Self::Order => &[b"sym", b"amount", b"limit"],
            Self::Query | Self::Cancel => &[b"id"],
            Self::EmptySymbol => &[b"sym"],
            Self::InCreate | Self::InTransactions => &[],
        }
    }
}

/// It may stand before a frame, where [`Requests`](crate::Requests) has taken it away.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Finds the items of a frame and puts them into `children`.
pub(crate) fn scan(xml: &str, children: &mut Vec<RootChild>) -> Result<Top, MalformedRequest> {
    children.clear();
    if !has_only_characters(xml) {
        return Err(MalformedRequest {
            flaw: Flaw::Characters,
            at: 0,
        });
    }
    // The reader leaves such a mark out of its own positions.
    if xml.starts_with(BYTE_ORDER_MARK) {
        return Err(MalformedRequest {
            flaw: Flaw::OutsideRoot,
            at: 0,
        });
    }
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_comments = true;
    let mut scan = Scan {
        xml,
        at: 0,
        depth: 0,
        top: None,
        symbol: None,
        in_grant: false,
        children,
    };
    for _ in 0..PARTS_MAX {
        let event = reader.read_event();
        let began = scan.at;
        scan.at = usize::try_from(reader.buffer_position()).expect("a frame fits the memory");
        match event {
            Ok(Event::Eof) => return scan.end(),
            Ok(event) => scan.event(&event, began)?,
            Err(error) => return Err(scan.flaw(flaw_of(&error))),
        }
    }
    Err(scan.flaw(Flaw::TooManyParts))
}

/// The quick way when all is ASCII: the only bytes that XML forbids then are below the blank.
fn has_only_characters(xml: &str) -> bool {
    if xml.is_ascii() {
        let is_forbidden = |byte: u8| byte < b' ' && !is_blank(byte);
        let forbidden = xml
            .bytes()
            .fold(false, |found, byte| found | is_forbidden(byte));
        return !forbidden;
    }
    xml.chars().all(is_character)
}

fn flaw_of(error: &Error) -> Flaw {
    match error {
        Error::IllFormed(
            IllFormedError::MismatchedEndTag { .. } | IllFormedError::UnmatchedEndTag(_),
        ) => Flaw::EndTag,
        Error::IllFormed(IllFormedError::UnclosedReference) => Flaw::Reference,
        Error::IllFormed(IllFormedError::MissingDoctypeName)
        | Error::Syntax(SyntaxError::UnclosedDoctype) => Flaw::Doctype,
        Error::Syntax(SyntaxError::InvalidBangMarkup) => Flaw::Syntax,
        Error::Syntax(_) => Flaw::Unclosed,
        _ => Flaw::Syntax,
    }
}

/// Where the pass stands.
struct Scan<'x, 'c> {
    xml: &'x str,
    /// Where the last event ended.
    at: usize,
    /// Elements that are open.
    depth: usize,
    top: Option<Top>,
    /// The `symbol` that is open.
    symbol: Option<Symbol>,
    /// Whether the last child is a grant whose element is open.
    in_grant: bool,
    children: &'c mut Vec<RootChild>,
}

#[derive(Clone, Copy)]
struct Symbol {
    sym: ByteSpan,
    /// How many children there were before it.
    before: usize,
}

/// A tag: its name, and where its attributes lie.
struct StartTag<'t> {
    name: &'t [u8],
    from: usize,
    to: usize,
}

impl<'t> StartTag<'t> {
    #[inline]
    fn new(tag: &'t BytesStart<'_>, to: usize) -> Self {
        let name = tag.name().into_inner().as_bytes();
        Self {
            name,
            from: to - tag.len() + name.len(),
            to,
        }
    }
}

impl Scan<'_, '_> {
    const fn flaw(&self, flaw: Flaw) -> MalformedRequest {
        MalformedRequest { flaw, at: self.at }
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, began: usize) -> Result<(), MalformedRequest> {
        match event {
            Event::Start(tag) => self.open(&StartTag::new(tag, self.at - 1)),
            Event::Empty(tag) => {
                self.open(&StartTag::new(tag, self.at - 2))?;
                self.close()
            }
            Event::End(_) => self.close(),
            Event::Text(text) => self.text(text, began),
            Event::CData(_) | Event::GeneralRef(_) if self.depth == 0 => {
                Err(self.flaw(Flaw::OutsideRoot))
            }
            Event::CData(text) => {
                let end = self.at - 3;
                self.shares(ByteSpan::new(end - text.len(), end));
                Ok(())
            }
            Event::GeneralRef(name) if is_reference(name) => {
                self.shares(ByteSpan::new(began, self.at));
                Ok(())
            }
            Event::GeneralRef(_) => Err(self.flaw(Flaw::Reference)),
            Event::Comment(_) | Event::Eof => Ok(()),
            Event::Decl(decl) => self.declaration(decl.len(), began),
            Event::PI(_) => Err(self.flaw(Flaw::Instruction)),
            Event::DocType(_) => Err(self.flaw(Flaw::Doctype)),
        }
    }

    #[inline]
    fn open(&mut self, tag: &StartTag<'_>) -> Result<(), MalformedRequest> {
        match (self.depth, self.top, self.symbol) {
            (0, None, _) => self.root(tag)?,
            (0, Some(_), _) => return Err(self.flaw(Flaw::OutsideRoot)),
            (1, Some(top), _) => self.child(top, tag)?,
            (2, _, Some(symbol)) => self.account(symbol, tag)?,
            (DEPTH_MAX, ..) => return Err(self.flaw(Flaw::TooDeep)),
            _ => {
                self.values(tag, &[])?;
            }
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn close(&mut self) -> Result<(), MalformedRequest> {
        self.depth -= 1;
        match self.depth {
            1 => match self.symbol.take() {
                Some(Symbol { sym, before }) if before == self.children.len() => {
                    self.push(Kind::EmptySymbol, [sym, ByteSpan::ABSENT, ByteSpan::ABSENT])
                }
                _ => Ok(()),
            },
            2 => {
                self.in_grant = false;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn root(&mut self, tag: &StartTag<'_>) -> Result<(), MalformedRequest> {
        let [id, ..] = self.values(tag, Kind::Query.names())?;
        self.top = Some(match tag.name {
            b"create" => Top::Create,
            b"transactions" => Top::Transactions { id },
            _ => return Err(self.flaw(Flaw::Root)),
        });
        Ok(())
    }

    #[inline]
    fn child(&mut self, top: Top, tag: &StartTag<'_>) -> Result<(), MalformedRequest> {
        let kind = match (top, tag.name) {
            (Top::Transactions { .. }, b"order") => Kind::Order,
            (Top::Transactions { .. }, b"query") => Kind::Query,
            (Top::Transactions { .. }, b"cancel") => Kind::Cancel,
            (Top::Transactions { .. }, _) => Kind::InTransactions,
            (Top::Create, b"account") => Kind::Account,
            (Top::Create, b"symbol") => {
                let [sym, ..] = self.values(tag, Kind::EmptySymbol.names())?;
                let before = self.children.len();
                self.symbol = Some(Symbol { sym, before });
                return Ok(());
            }
            (Top::Create, _) => Kind::InCreate,
        };
        let values = self.values(tag, kind.names())?;
        self.push(kind, values)
    }

    fn account(&mut self, symbol: Symbol, tag: &StartTag<'_>) -> Result<(), MalformedRequest> {
        let [id, ..] = self.values(tag, Kind::Query.names())?;
        self.in_grant = tag.name == b"account";
        let kind = if self.in_grant {
            Kind::Grant
        } else {
            Kind::InSymbol
        };
        self.push(kind, [symbol.sym, id, ByteSpan::ABSENT])
    }

    /// The places of the named attributes. All others are looked at and forgotten.
    #[inline]
    fn values(
        &self,
        tag: &StartTag<'_>,
        names: &[&[u8]],
    ) -> Result<[ByteSpan; 3], MalformedRequest> {
        if !is_name(tag.name) {
            return Err(self.flaw(Flaw::Name));
        }
        let mut values = [ByteSpan::ABSENT; 3];
        attributes(self.xml, tag.from, tag.to, |name, value| {
            let mut slots = names.iter().zip(&mut values);
            if let Some((_, slot)) = slots.find(|(known, _)| **known == name) {
                *slot = value;
            }
        })?;
        Ok(values)
    }

    #[inline]
    fn push(&mut self, kind: Kind, values: [ByteSpan; 3]) -> Result<(), MalformedRequest> {
        if self.children.len() == ITEMS_MAX {
            return Err(self.flaw(Flaw::TooManyItems));
        }
        self.children.push(RootChild { kind, values });
        Ok(())
    }

    #[inline]
    fn text(&mut self, text: &str, began: usize) -> Result<(), MalformedRequest> {
        let after = text.trim_start_matches(is_blank_character);
        if after.is_empty() {
            return Ok(());
        }
        if self.depth == 0 {
            return Err(self.flaw(Flaw::OutsideRoot));
        }
        if after.contains("]]>") {
            return Err(self.flaw(Flaw::Syntax));
        }
        let start = began + text.len() - after.len();
        let length = after.trim_end_matches(is_blank_character).len();
        self.shares(ByteSpan::new(start, start + length));
        Ok(())
    }

    /// A piece of text. Only the text of an `account` inside a `symbol` means anything; when it
    /// comes in several pieces, what stands between them is part of it.
    fn shares(&mut self, piece: ByteSpan) {
        if self.depth == 3
            && self.in_grant
            && let Some(RootChild { values, .. }) = self.children.last_mut()
        {
            let [_, _, shares] = values;
            *shares = if shares.is_absent() {
                piece
            } else {
                shares.to(piece)
            };
        }
    }

    /// `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`, of which only the version must be
    /// there.
    fn declaration(&self, length: usize, began: usize) -> Result<(), MalformedRequest> {
        let mut next = 0;
        let mut is_sound = began == 0;
        let to = self.at - 2;
        attributes(self.xml, to - length + "xml".len(), to, |name, value| {
            let value = value.of(self.xml).unwrap_or_default();
            let (place, is_known) = match name {
                b"version" => (0, value == "1.0" || value == "1.1"),
                b"encoding" => (1, value.eq_ignore_ascii_case("utf-8")),
                b"standalone" => (2, value == "yes" || value == "no"),
                _ => (0, false),
            };
            is_sound &= is_known && place >= next && (next > 0 || place == 0);
            next = place + 1;
        })?;
        if is_sound && next > 0 {
            Ok(())
        } else {
            Err(self.flaw(Flaw::Declaration))
        }
    }

    const fn end(self) -> Result<Top, MalformedRequest> {
        match self.top {
            _ if self.depth > 0 => Err(self.flaw(Flaw::Unclosed)),
            None => Err(self.flaw(Flaw::Empty)),
            Some(top) => Ok(top),
        }
    }
}

const fn is_blank_character(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}
