//! The filters of `CLIENT LIST` and `CLIENT KILL`: which connections are meant.

use turnstile_resp::Arguments;
use turnstile_types::Timestamp;

use crate::core::conversation::ListedClient;

const SYNTAX: &str = "ERR syntax error";

/// Connections that every one of these fits.
#[derive(Debug, Default)]
pub(super) struct ClientFilter<'a> {
    /// Any of these; empty for any at all.
    ids: Vec<u64>,
    address: Option<&'a [u8]>,
    user: Option<&'a [u8]>,
    kind: Option<Kind>,
    age_s_min: u64,
    skips_me: bool,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Normal,
    /// It follows channels.
    PubSub,
    /// A link of a replication, of which there is none.
    Replication,
}

/// A whole number above 0, such as the id of a client.
pub(super) fn number(word: &[u8]) -> Result<u64, &'static str> {
    digits(word).ok_or("ERR client-id should be greater than 0")
}

fn digits(word: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(word).ok()?.parse().ok()?;
    (number > 0).then_some(number)
}

impl<'a> ClientFilter<'a> {
    /// Reads the filters of a `CLIENT` command.
    pub(super) fn parse(
        arguments: Arguments<'a, '_>,
        skips_me: bool,
    ) -> Result<Self, &'static str> {
        let mut filter = Self {
            skips_me,
            ..Self::default()
        };
        let mut at = 2;
        while let Some(word) = arguments.get(at) {
            let value = arguments.get(at + 1).ok_or(SYNTAX)?;
            at += 2;
            match word.to_ascii_uppercase().as_slice() {
                b"ID" => {
                    filter.ids.push(number(value)?);
                    while let Some(id) = arguments.get(at).and_then(digits) {
                        filter.ids.push(id);
                        at += 1;
                    }
                }
                b"ADDR" => filter.address = Some(value),
                b"USER" => filter.user = Some(value),
                b"TYPE" => filter.kind = Some(Kind::parse(value)?),
                b"MAXAGE" => filter.age_s_min = digits(value).ok_or(SYNTAX)?,
                b"SKIPME" => {
                    filter.skips_me = match value.to_ascii_uppercase().as_slice() {
                        b"YES" => true,
                        b"NO" => false,
                        _ => return Err(SYNTAX),
                    };
                }
                _ => return Err(SYNTAX),
            }
        }
        Ok(filter)
    }

    /// The one at this address.
    pub(super) fn of_address(address: &'a [u8]) -> Self {
        Self {
            address: Some(address),
            ..Self::default()
        }
    }

    /// Whether the connection that asks is left out, whatever else fits.
    pub(super) const fn skips_me(&self) -> bool {
        self.skips_me
    }

    /// Whether this connection is meant, at this instant.
    pub(super) fn fits(&self, client: &ListedClient<'_>, now: Timestamp) -> bool {
        let is_wanted = self.ids.is_empty() || self.ids.contains(&client.id);
        let is_there = self
            .address
            .is_none_or(|address| address == client.peer.to_string().as_bytes());
        let is_users = self
            .user
            .is_none_or(|wanted| wanted == client.principal.0.as_bytes());
        let is_kind = self.kind.is_none_or(|kind| kind == Kind::of(client));
        is_wanted && is_there && is_users && is_kind && client.age_s(now) >= self.age_s_min
    }
}

impl Kind {
    fn parse(word: &[u8]) -> Result<Self, &'static str> {
        match word.to_ascii_lowercase().as_slice() {
            b"normal" => Ok(Self::Normal),
            b"pubsub" => Ok(Self::PubSub),
            b"master" | b"replica" | b"slave" => Ok(Self::Replication),
            _ => Err("ERR client types are normal, pubsub, master and replica"),
        }
    }

    const fn of(client: &ListedClient<'_>) -> Self {
        if client.channels + client.patterns == 0 {
            Self::Normal
        } else {
            Self::PubSub
        }
    }
}
