//! Names and numbers: of nodes, of proposals, and of places in the stream.

use std::{fmt, str::FromStr, sync::Arc};

/// The longest name of a node or a partition, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// A place in the stream: the first entry has 1, and 0 is before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The place after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a node or a partition: 1 to 32 letters, digits, `-` and `_`, so that it is one token
/// of a subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(Arc<str>);

/// A text that is no name of a node or a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidNodeName(String);

impl NodeName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeName {
    type Err = InvalidNodeName;

    fn from_str(text: &str) -> Result<Self, InvalidNodeName> {
        let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_of_a_name) {
            return Ok(Self(text.into()));
        }
        Err(InvalidNodeName(text.chars().take(NAME_BYTES_MAX).collect()))
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InvalidNodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a name of a node or partition: use 1 to {NAME_BYTES_MAX} letters, digits, \
             `-` and `_`",
            self.0
        )
    }
}

impl std::error::Error for InvalidNodeName {}

/// What a proposal is known by, for good: the broker stores one id once within its window of two
/// minutes, and the machines know it after that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId {
    /// Who proposes.
    pub node: NodeName,
    /// Which run of the node: another number with each start.
    pub incarnation: u64,
    /// Which proposal of this run.
    pub number: u64,
}

/// `node.incarnation.number`, as in the header `Nats-Msg-Id`.
impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.node, self.incarnation, self.number)
    }
}

impl ProposalId {
    /// Reads what [`Display`](fmt::Display) writes, and nothing else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let id = Self {
            node: parts.next()?.parse().ok()?,
            incarnation: number(parts.next()?)?,
            number: number(parts.next()?)?,
        };
        parts.next().is_none().then_some(id)
    }
}

/// A number in the only form that it is written in.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = text == "0" || !text.starts_with('0');
    (is_plain && is_short).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = ProposalId {
            node: "n-1".parse().expect("a name"),
            incarnation: 17,
            number: u64::MAX,
        };
        assert_eq!(id.to_string(), "n-1.17.18446744073709551615");
        assert_eq!(ProposalId::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "n1",
            "n1.1",
            "n1.1.1.1",
            "n1.01.1",
            "n1.+1.1",
            "n1.1.",
            ".1.1",
            "n 1.1.1",
            "n1.1.18446744073709551616",
        ] {
            assert_eq!(ProposalId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_is_one_token_of_a_subject() {
        for text in ["", "a.b", "*", ">", "a b", "\u{e4}", &"x".repeat(33)] {
            assert!(text.parse::<NodeName>().is_err(), "{text}");
        }
        assert!("x".repeat(32).parse::<NodeName>().is_ok());
    }
}
