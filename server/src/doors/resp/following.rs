//! `SUBSCRIBE`: connections that are told what happens.

use turnstile_access::{Access, MissingRight, Right, Rights};
use turnstile_chassis::Routed;
use turnstile_exchange::Exchange;
use turnstile_resp::{
    Arguments, Encoder, Protocol,
    catalogue::{Action, Verb},
    exchange, rooms,
};
use turnstile_rooms::Rooms;
use turnstile_types::Machine as _;

use super::{Next, Session};
use crate::{
    core::{
        caller::NotPermitted,
        engine::Engine,
        remote::{Remotes, silence_of},
        security_log::SECURITY_CHANNEL,
    },
    limits::{LABEL_BYTES, SUBSCRIPTIONS},
    registry::{Registered as _, SERVICES},
};

/// The channels and patterns that a connection follows, in the order in which it asked.
#[derive(Debug, Default)]
pub(crate) struct Following {
    channels: Vec<Box<[u8]>>,
    patterns: Vec<Box<[u8]>>,
}

/// What a RESP2 connection may still ask while it follows something: its replies and the messages
/// are told apart by their first word only.
pub(super) const fn is_allowed(action: Action) -> bool {
    matches!(
        action,
        Action::Session(
            Verb::Subscribe
                | Verb::Unsubscribe
                | Verb::PatternSubscribe
                | Verb::PatternUnsubscribe
                | Verb::Ping
                | Verb::Quit
                | Verb::Reset
        )
    )
}

impl Following {
    pub(crate) const fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.patterns.is_empty()
    }

    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.channels.len(), self.patterns.len())
    }

    const fn count(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }

    /// How many there are when these are there too.
    fn count_with(&mut self, named: &[Box<[u8]>], by_pattern: bool) -> usize {
        let list = self.list(by_pattern);
        let new = named.iter().filter(|name| !list.contains(name)).count();
        self.count() + new
    }

    /// Whether all that it follows may be told to a client with these rights.
    ///
    /// # Errors
    /// The right that is missing.
    pub(crate) fn is_permitted(&self, rights: &Rights) -> Result<(), MissingRight> {
        let mut followed = self.channels.iter().chain(&self.patterns);
        followed.try_for_each(|name| judge(name, rights))
    }

    const fn list(&mut self, by_pattern: bool) -> &mut Vec<Box<[u8]>> {
        if by_pattern {
            &mut self.patterns
        } else {
            &mut self.channels
        }
    }

    /// Appends one message for each way in which the connection follows a channel.
    pub(crate) fn put_message(
        &self,
        protocol: Protocol,
        (channel, message): (&str, &str),
        out: &mut Vec<u8>,
    ) {
        let mut reply = Encoder::new(out, protocol);
        if self
            .channels
            .iter()
            .any(|followed| **followed == *channel.as_bytes())
        {
            reply.push(3);
            reply.text("message");
            reply.text(channel);
            reply.text(message);
        }
        for pattern in self
            .patterns
            .iter()
            .filter(|pattern| matches(pattern, channel.as_bytes()))
        {
            reply.push(4);
            reply.text("pmessage");
            reply.bulk(pattern);
            reply.text(channel);
            reply.text(message);
        }
    }
}

/// Whether a channel, or all channels of a pattern, may be told to a client with these rights. The events
/// of a service tell of everybody in it, so they need the right to read all of it.
fn judge(name: &[u8], rights: &Rights) -> Result<(), MissingRight> {
    let plain = name.iter().position(|byte| matches!(byte, b'*' | b'?'));
    let plain = name.get(..plain.unwrap_or(name.len())).unwrap_or_default();
    let services = SERVICES.iter().map(|one| (one.name, one.number));
    // What happens to the security of the server is for those who may see who may do what.
    let security = SECURITY_CHANNEL.split('.').next().unwrap_or_default();
    for (name, service) in services.chain([(security, Access::SERVICE)]) {
        let channels = format!("{name}.").into_bytes();
        let may_be_its = plain.starts_with(&channels) || channels.starts_with(plain);
        if may_be_its && !rights.has_all(service, Right::Read) {
            let right = Right::Read;
            return Err(MissingRight::Unlimited { service, right });
        }
    }
    Ok(())
}

/// Whether a text matches a pattern of `*`, `?` and plain characters. It goes back to the last star
/// only, so it takes at most as many steps as the product of both lengths.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut in_text) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(in_text) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, in_text));
                at += 1;
                continue;
            }
            Some(wanted) if *wanted == b'?' || wanted == byte => {
                at += 1;
                in_text += 1;
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = star else {
            return false;
        };
        star = Some((after, from + 1));
        at = after;
        in_text = from + 1;
    }
    pattern
        .get(at..)
        .unwrap_or_default()
        .iter()
        .all(|&byte| byte == b'*')
}

impl Session {
    pub(super) fn follow(
        &mut self,
        engine: &mut Engine,
        verb: Verb,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let (word, begins) = match verb {
            Verb::Subscribe => ("subscribe", true),
            Verb::PatternSubscribe => ("psubscribe", true),
            Verb::Unsubscribe => ("unsubscribe", false),
            _ => ("punsubscribe", false),
        };
        let by_pattern = matches!(verb, Verb::PatternSubscribe | Verb::PatternUnsubscribe);
        let named: Vec<Box<[u8]>> = arguments.iter().skip(1).map(Box::from).collect();
        let rights = engine.caller.rights();
        let denied = named.iter().find_map(|name| judge(name, rights).err());
        if let Some(missing) = denied.filter(|_| begins) {
            self.put_denied(engine.deny(NotPermitted::Missing(missing)), out);
            return Next::Go;
        }
        let silence =
            silence_on(&named, &engine.remotes).or_else(|| silence_of_others(&named, engine));
        if let Some(silence) = silence.filter(|_| begins) {
            return self.invalid(engine, format_args!("UNSUPPORTED {silence}"), out);
        }
        let too_many = begins && self.following.count_with(&named, by_pattern) > SUBSCRIPTIONS;
        if too_many || named.iter().any(|name| name.len() > LABEL_BYTES) {
            let sentence = format_args!(
                "ERR a connection follows at most {SUBSCRIPTIONS} channels, with names of at most \
                 {LABEL_BYTES} bytes"
            );
            return self.invalid(engine, sentence, out);
        }
        engine.heed_games();
        let list = self.following.list(by_pattern);
        let names = if named.is_empty() {
            list.clone()
        } else {
            named
        };
        if names.is_empty() {
            let count = self.following.count();
            put_change(&mut Encoder::new(out, self.protocol), word, None, count);
        }
        for name in names {
            let list = self.following.list(by_pattern);
            list.retain(|known| *known != name);
            if begins {
                list.push(name.clone());
            }
            let count = self.following.count();
            put_change(
                &mut Encoder::new(out, self.protocol),
                word,
                Some(&name),
                count,
            );
        }
        Next::Go
    }
}

/// Why nothing will be told on one of these channels, if a database decides its service.
fn silence_on(channels: &[Box<[u8]>], remotes: &Remotes) -> Option<String> {
    let of_exchange = exchange::CHANNELS.trim_end_matches('*').as_bytes();
    let asks_rooms = || {
        let mut channels = channels.iter();
        channels.any(|channel| **channel == *rooms::CHANNEL.as_bytes())
    };
    let asks_exchange = || {
        let mut channels = channels.iter();
        channels.any(|channel| channel.starts_with(of_exchange))
    };
    if remotes.rooms.is_some() && asks_rooms() {
        Some(silence_of::<Rooms>())
    } else if remotes.exchange.is_some() && asks_exchange() {
        Some(silence_of::<Exchange>())
    } else {
        None
    }
}

/// Why not all would be told on one of these channels or patterns, if partitions tell it that other nodes
/// hold.
fn silence_of_others(names: &[Box<[u8]>], engine: &Engine) -> Option<String> {
    let unheld = engine.partitions.as_ref()?.unheld()?;
    let mut channels = SPREAD_CHANNELS.iter().filter(|channel| !channel.is_empty());
    let channel = channels.find(|channel| {
        let mut names = names.iter();
        names.any(|name| matches(name, channel.as_bytes()))
    })?;
    let holders = engine.holders_of(unheld, "resp");
    Some(format!(
        "all partitions tell {channel}, each its own events: {holders}"
    ))
}

macro_rules! spread_channels {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The channels of services that several partitions may decide; empty for others.
        const SPREAD_CHANNELS: &[&str] = &[$(
            if <turnstile_services::$name::Query as Routed>::IS_SPREAD {
                turnstile_services::$name::$machine::CHANNEL
            } else {
                ""
            },
        )+];
    };
}

turnstile_services::services!(spread_channels);

fn put_change(reply: &mut Encoder<'_>, word: &str, name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.text(word);
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(u64::try_from(count).expect("a few dozen"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_a_question_mark_for_one_character() {
        let rows = [
            ("rooms.events", true),
            ("rooms.*", true),
            ("*", true),
            ("*events", true),
            ("r*m*e*s", true),
            ("rooms?events", true),
            ("rooms.event", false),
            ("rooms.events?", false),
            ("*.*.*", false),
            ("", false),
            ("rooms.events**", true),
        ];
        for (pattern, expected) in rows {
            assert_eq!(
                matches(pattern.as_bytes(), b"rooms.events"),
                expected,
                "{pattern}"
            );
        }
    }
}
