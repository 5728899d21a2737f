//! Answers, read.

use std::fmt;

use memchr::memmem;
use quick_xml::{Reader, events::Event};
use turnstile_exchange::{Decimal, OrderId};

use crate::{Framed, attributes::attributes, span::ByteSpan};

const END: &[u8] = b"</results>";

/// Looks for the answer at the start of `bytes`, with or without a length line.
#[must_use]
pub fn frame(bytes: &[u8]) -> Framed {
    let skipped = bytes.iter().take_while(|&&byte| byte <= b' ').count();
    let answer = bytes.get(skipped..).unwrap_or_default();
    if answer.first() != Some(&b'<') {
        return crate::frame(bytes, u32::MAX);
    }
    match memmem::find(answer, END) {
        None => Framed::Incomplete {
            skipped,
            needed: answer.len() + 1,
        },
        Some(at) => {
            let end = skipped + at + END.len();
            Framed::Frame {
                xml: skipped..end,
                consumed: end,
            }
        }
    }
}

/// The answer to one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    pub kind: ReplyKind,
    /// The attributes as they came, references not resolved.
    pub sym: Option<&'a str>,
    pub amount: Option<&'a str>,
    pub limit: Option<&'a str>,
    pub id: Option<&'a str>,
    /// The sentence of an error, as it came.
    pub text: &'a str,
    /// What became of an order.
    pub parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    Created,
    Opened,
    Status,
    Cancelled,
    Error,
}

/// A piece of an order. Times are in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Open {
        shares: Decimal,
    },
    Cancelled {
        shares: Decimal,
        time: u64,
    },
    Executed {
        shares: Decimal,
        price: Decimal,
        time: u64,
    },
}

/// An answer that no server of this protocol gives; the byte near which it was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GarbledReply {
    pub at: usize,
}

impl fmt::Display for GarbledReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the answer is not what this protocol allows, near byte {}",
            self.at
        )
    }
}

impl std::error::Error for GarbledReply {}

impl Reply<'_> {
    /// The order that the answer is about.
    #[must_use]
    pub fn order(&self) -> Option<OrderId> {
        self.id?.parse().ok().map(OrderId)
    }
}

/// The replies of one answer, in order. After an error there is nothing more.
#[derive(Debug)]
pub struct Replies<'a> {
    xml: &'a str,
    reader: Reader<&'a [u8]>,
    at: usize,
    in_results: bool,
    has_ended: bool,
}

impl<'a> Replies<'a> {
    /// # Errors
    /// The XML is not UTF-8.
    pub fn new(xml: &'a [u8]) -> Result<Self, GarbledReply> {
        let xml = str::from_utf8(xml).map_err(|found| GarbledReply {
            at: found.valid_up_to(),
        })?;
        // The reader leaves a byte order mark out of its own positions.
        let xml = xml.trim_start_matches('\u{feff}');
        let reader = Reader::from_str(xml);
        Ok(Self {
            xml,
            reader,
            at: 0,
            in_results: false,
            has_ended: false,
        })
    }

    fn event(&mut self) -> Result<Event<'a>, GarbledReply> {
        let event = self.reader.read_event();
        self.at = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        event.map_err(|_broken| self.garbled())
    }

    const fn garbled(&self) -> GarbledReply {
        GarbledReply { at: self.at }
    }

    /// The next reply; none at the end.
    fn reply(&mut self) -> Result<Option<Reply<'a>>, GarbledReply> {
        loop {
            match self.event()? {
                Event::Start(tag) if !self.in_results && tag.name().as_ref() == "results" => {
                    self.in_results = true;
                }
                Event::Start(tag) if self.in_results => {
                    let to = self.at - 1;
                    let mut reply = self.begin(tag.name().as_ref(), to - tag.len(), to)?;
                    self.content(&mut reply)?;
                    return Ok(Some(reply));
                }
                Event::Empty(tag) if self.in_results => {
                    let to = self.at - 2;
                    return self
                        .begin(tag.name().as_ref(), to - tag.len(), to)
                        .map(Some);
                }
                Event::End(_) => return Ok(None),
                Event::Text(text) if text.trim_ascii().is_empty() => {}
                _ => return Err(self.garbled()),
            }
        }
    }

    fn begin(&self, name: &str, from: usize, to: usize) -> Result<Reply<'a>, GarbledReply> {
        let kind = match name {
            "created" => ReplyKind::Created,
            "opened" => ReplyKind::Opened,
            "status" => ReplyKind::Status,
            "canceled" => ReplyKind::Cancelled,
            "error" => ReplyKind::Error,
            _ => return Err(self.garbled()),
        };
        let names = [&b"sym"[..], b"amount", b"limit", b"id"];
        let [sym, amount, limit, id] = self.values(from + name.len(), to, names)?;
        Ok(Reply {
            kind,
            sym,
            amount,
            limit,
            id,
            text: "",
            parts: Vec::new(),
        })
    }

    /// What stands between the tags of a reply, and its end.
    fn content(&mut self, reply: &mut Reply<'a>) -> Result<(), GarbledReply> {
        let start = self.at;
        loop {
            let before = self.at;
            match self.event()? {
                Event::Empty(tag) => {
                    let to = self.at - 2;
                    let part = self.part(tag.name().as_ref(), to - tag.len(), to)?;
                    reply.parts.push(part);
                }
                Event::End(_) => {
                    if reply.kind == ReplyKind::Error {
                        reply.text = self.xml.get(start..before).unwrap_or_default();
                    }
                    return Ok(());
                }
                Event::Text(_) | Event::GeneralRef(_) => {}
                _ => return Err(self.garbled()),
            }
        }
    }

    fn part(&self, name: &str, from: usize, to: usize) -> Result<Part, GarbledReply> {
        let names = [&b"shares"[..], b"price", b"time"];
        let [shares, price, time] = self.values(from + name.len(), to, names)?;
        let decimal = |text: Option<&str>| {
            let number = text.map(|text| Decimal::parse(text.as_bytes()));
            number.and_then(Result::ok).ok_or_else(|| self.garbled())
        };
        let seconds = || {
            let number = time.and_then(|text| text.parse().ok());
            number.ok_or_else(|| self.garbled())
        };
        let shares = decimal(shares)?;
        Ok(match name {
            "open" => Part::Open { shares },
            "canceled" => Part::Cancelled {
                shares,
                time: seconds()?,
            },
            "executed" => Part::Executed {
                shares,
                price: decimal(price)?,
                time: seconds()?,
            },
            _ => return Err(self.garbled()),
        })
    }

    fn values<const N: usize>(
        &self,
        from: usize,
        to: usize,
        names: [&[u8]; N],
    ) -> Result<[Option<&'a str>; N], GarbledReply> {
        let mut values = [ByteSpan::ABSENT; N];
        let read = attributes(self.xml, from, to, |name, value| {
            if let Some(place) = names.iter().position(|&known| known == name) {
                values[place] = value;
            }
        });
        match read {
            Ok(()) => Ok(values.map(|value| value.of(self.xml))),
            Err(flaw) => Err(GarbledReply { at: flaw.at }),
        }
    }
}

impl<'a> Iterator for Replies<'a> {
    type Item = Result<Reply<'a>, GarbledReply>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let reply = self.reply().transpose();
        self.has_ended = !matches!(reply, Some(Ok(_)));
        reply
    }
}
