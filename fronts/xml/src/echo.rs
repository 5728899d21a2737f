//! What an answer repeats of its request.

/// The values of an item as they were sent, to the letter: references are not resolved, quotes are
/// not part of them. None: the attribute was not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo<'a> {
    /// An `account` of `create`.
    Account {
        id: Option<&'a str>,
    },
    /// An `account` inside a `symbol`.
    Grant {
        sym: Option<&'a str>,
        id: Option<&'a str>,
    },
    Order {
        sym: Option<&'a str>,
        amount: Option<&'a str>,
        limit: Option<&'a str>,
    },
    Query {
        id: Option<&'a str>,
    },
    Cancel {
        id: Option<&'a str>,
    },
    /// An element that does not belong there.
    Unknown,
}

impl<'a> Echo<'a> {
    /// The attributes in the order in which an answer has them.
    pub(crate) const fn attributes(self) -> [(&'static str, Option<&'a str>); 3] {
        const NONE: (&str, Option<&str>) = ("", None);
        match self {
            Self::Account { id } | Self::Query { id } | Self::Cancel { id } => {
                [("id", id), NONE, NONE]
            }
            Self::Grant { sym, id } => [("sym", sym), ("id", id), NONE],
            Self::Order { sym, amount, limit } => {
                [("sym", sym), ("amount", amount), ("limit", limit)]
            }
            Self::Unknown => [NONE; 3],
        }
    }
}
