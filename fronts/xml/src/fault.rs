//! What can be wrong with a connection, a frame or an item, and the sentence that says so.

use std::fmt;

use turnstile_exchange::{InvalidDecimal, InvalidLabel};

use crate::limits::{
    ATTRIBUTE_BYTES_MAX, ATTRIBUTES_MAX, DEPTH_MAX, ITEMS_MAX, LENGTH_DIGITS_MAX, PARTS_MAX,
};

/// Bytes after which the stream cannot be trusted any more: the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something else than digits and a line end stands where a length should.
    LengthLine,
    /// More digits than any length within the limits needs.
    LengthDigits,
    /// More bytes are announced than are taken.
    TooLong { most: u32 },
}

/// A frame that is not one request: nothing of it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedRequest {
    pub flaw: Flaw,
    /// The byte of the XML near which it was noticed, from 0.
    pub at: usize,
}

/// Why a frame is not one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is not UTF-8, or has a character that XML does not allow.
    Characters,
    /// A tag, comment or section that is not closed, or is none.
    Syntax,
    /// An end that does not belong to the last element that is open.
    EndTag,
    /// It ends before its root does.
    Unclosed,
    /// It has no element at all.
    Empty,
    /// The root is neither `create` nor `transactions`.
    Root,
    /// Something stands before or after the root.
    OutsideRoot,
    /// An element or attribute has a name that is none.
    Name,
    /// An attribute is not written as `name="value"`, with a blank before it.
    Attribute,
    AttributeTwice,
    TooManyAttributes,
    AttributeTooLong,
    /// A reference to something else than the five characters of XML, or a character by number.
    Reference,
    Doctype,
    Instruction,
    /// The declaration is not one of XML 1 in UTF-8, or does not come first.
    Declaration,
    TooDeep,
    TooManyItems,
    TooManyParts,
}

/// A value that an item carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    Id,
    Balance,
    Sym,
    Amount,
    Limit,
    /// The text of an `account` inside a `symbol`.
    Shares,
}

/// Why an item cannot be asked of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    Missing(Attribute),
    Number(Attribute, InvalidDecimal),
    Negative(Attribute),
    /// Zero, or below it where only more makes sense.
    NotPositive(Attribute),
    Zero(Attribute),
    Name(Attribute, InvalidLabel),
    /// An account is digits only, where the deployment has not said otherwise.
    AccountDigits,
    OrderDigits,
    /// The `transactions` that holds the item names no account.
    NoAccount,
    /// Such an element does not belong into `create`.
    InCreate,
    /// Such an element does not belong into `transactions`.
    InTransactions,
    /// Such an element does not belong into `symbol`.
    InSymbol,
    /// A `symbol` without an `account`.
    EmptySymbol,
    /// The answer is so long already that no order is described any more.
    AnswerTooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthLine => f.write_str(
                "a request begins with a line that holds the number of bytes that follow",
            ),
            Self::LengthDigits => {
                write!(
                    f,
                    "the length line has more than {LENGTH_DIGITS_MAX} digits"
                )
            }
            Self::TooLong { most } => write!(f, "a request has at most {most} bytes"),
        }
    }
}

impl fmt::Display for MalformedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (near byte {})", self.flaw, self.at)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Characters => "the request is not UTF-8 or has a character that XML forbids",
            Self::Syntax => "the request is not well-formed XML",
            Self::EndTag => "an end tag does not belong to the element that is open",
            Self::Unclosed => "the XML ends before its root element does; is the length right?",
            Self::Empty => "the request has no element",
            Self::Root => "the root element is neither create nor transactions",
            Self::OutsideRoot => "the root element is not alone; is the length right?",
            Self::Name => "an element or attribute has a name that XML forbids",
            Self::Attribute => {
                "an attribute is not written as a name, an equals sign and a quoted value"
            }
            Self::AttributeTwice => "an element has the same attribute twice",
            Self::TooManyAttributes => {
                return write!(f, "an element has more than {ATTRIBUTES_MAX} attributes");
            }
            Self::AttributeTooLong => {
                return write!(f, "an attribute has more than {ATTRIBUTE_BYTES_MAX} bytes");
            }
            Self::Reference => {
                "only the five predefined entities and character references are known"
            }
            Self::Doctype => "a document type is not allowed",
            Self::Instruction => "a processing instruction is not allowed",
            Self::Declaration => "the XML declaration is not one of version 1 in UTF-8",
            Self::TooDeep => {
                return write!(f, "elements nest more than {DEPTH_MAX} deep");
            }
            Self::TooManyItems => {
                return write!(f, "the request holds more than {ITEMS_MAX} items");
            }
            Self::TooManyParts => {
                return write!(
                    f,
                    "the request holds more than {PARTS_MAX} tags, texts and comments"
                );
            }
        })
    }
}

impl Attribute {
    /// As it is written on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Balance => "balance",
            Self::Sym => "sym",
            Self::Amount => "amount",
            Self::Limit => "limit",
            Self::Shares => "shares",
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(Attribute::Shares) => f.write_str("the number of shares is missing"),
            Self::Missing(of) => write!(f, "the attribute {} is missing", of.name()),
            Self::Number(of, why) => write!(f, "{}: {why}", of.name()),
            Self::Negative(of) => write!(f, "{} must not be negative", of.name()),
            Self::NotPositive(of) => write!(f, "{} must be above zero", of.name()),
            Self::Zero(of) => write!(f, "{} must not be zero", of.name()),
            Self::Name(of, why) => write!(f, "{}: {why}", of.name()),
            Self::AccountDigits => f.write_str("an account id is digits only"),
            Self::OrderDigits => f.write_str("an order id is digits only"),
            Self::NoAccount => f.write_str("the attribute id of transactions is missing"),
            Self::InCreate => f.write_str("create holds only account and symbol elements"),
            Self::InTransactions => {
                f.write_str("transactions holds only order, query and cancel elements")
            }
            Self::InSymbol => f.write_str("symbol holds only account elements"),
            Self::EmptySymbol => f.write_str("symbol holds no account element"),
            Self::AnswerTooLong => {
                f.write_str("the answer is too long; query fewer orders in one request")
            }
        }
    }
}

impl std::error::Error for Fault {}
impl std::error::Error for MalformedRequest {}
impl std::error::Error for Invalid {}
