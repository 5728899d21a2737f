//! Messages to clients: one JSON object each, with an `op`.

use serde::Serialize;
use turnstile_chassis::Fields;
use turnstile_exchange::{
    AccountId, Answer, DepthLevel, Event, EventKind, Level, OrderView, Symbol, Trade, levels,
};
use turnstile_json::Object;
use turnstile_types::Position;

use super::Topic;
use crate::{
    answer::AsText,
    code::Code,
    exchange::event::{OrderEventView, concerns},
    message::{Nothing, Plain, Tag, text},
    problem::Problem,
};

/// Writes the messages of one run of the server.
#[derive(Clone, Copy, Debug)]
pub struct TopicWriter<'a> {
    /// Another in every run: sequence numbers are compared within one only.
    pub epoch: &'a str,
}

/// What a client has been told of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicProgress {
    /// The sequence number of the snapshot: what it holds is not told again.
    pub snapshot: u64,
    /// The sequence number of the last message.
    pub last: u64,
}

/// A message about a topic.
#[derive(Serialize)]
struct TopicMessage<'a, T> {
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Tag>,
    channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<AsText<Symbol>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<AsText<AccountId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// Events that the client has not been told.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<T>,
}

#[derive(Fields)]
struct BookDepth {
    bids: Vec<DepthLevel>,
    asks: Vec<DepthLevel>,
}

#[derive(Fields)]
struct LevelChanges {
    changes: Vec<Level>,
}

#[derive(Fields)]
struct Trades<'a> {
    /// The oldest first.
    trades: Vec<&'a Trade>,
}

#[derive(Fields)]
struct OrdersSnapshot<'a> {
    /// The open ones, the oldest first.
    orders: &'a [OrderView],
    /// Present and true when there are more than the message holds.
    more: Option<bool>,
}

#[derive(Fields)]
struct OrderEvents {
    events: Vec<OrderEventView>,
}

#[derive(Serialize)]
struct PartingChoice {
    orders: &'static str,
}

fn about<T>(op: &'static str, topic: Topic) -> TopicMessage<'static, T> {
    let (symbol, account) = match topic {
        Topic::Book(symbol) | Topic::Trades(symbol) | Topic::Top(symbol) => (Some(symbol), None),
        Topic::Orders(account) => (None, Some(account)),
    };
    TopicMessage {
        op,
        id: None,
        channel: topic.channel(),
        symbol: symbol.map(AsText),
        account: account.map(AsText),
        epoch: None,
        prev_seq: None,
        seq: None,
        missed: None,
        data: None,
    }
}

impl<'a> TopicWriter<'a> {
    /// A topic as it is: the answer to its query, at the position `at`; and its sequence number.
    ///
    /// # Errors
    /// The problem of a refusal.
    pub fn snapshot(
        self,
        tag: Option<&Tag>,
        topic: Topic,
        at: Position,
        answer: &Answer,
    ) -> Result<(u64, String), Problem> {
        Ok(match answer {
            Answer::Depth(depth) => {
                let data = BookDepth {
                    bids: levels(&depth.bids),
                    asks: levels(&depth.asks),
                };
                (depth.seq, self.whole(tag, topic, depth.seq, &data))
            }
            Answer::Trades { trades, .. } => {
                let seq = trades.first().map_or(0, |trade| trade.trade);
                let trades = trades.iter().rev().collect();
                (seq, self.whole(tag, topic, seq, &Trades { trades }))
            }
            Answer::Orders { orders, next } => {
                let data = OrdersSnapshot {
                    orders,
                    more: next.map(|_more| true),
                };
                (at.0, self.whole(tag, topic, at.0, &data))
            }
            Answer::Refused(refusal) => {
                return Err(Problem {
                    position: Some(at),
                    ..Problem::from(Code::from(*refusal))
                });
            }
            // No topic asks for anything else.
            _ => return Err(Problem::from(Code::BackendBroken)),
        })
    }

    fn whole(self, tag: Option<&Tag>, topic: Topic, seq: u64, data: &impl Fields) -> String {
        text(&TopicMessage {
            id: tag,
            epoch: Some(self.epoch),
            seq: Some(seq),
            data: Some(Object(data)),
            ..about("snapshot", topic)
        })
    }

    /// What some events changed of a topic; nothing when they did not, or when what was told holds
    /// it already. Answers the new sequence number as well.
    #[must_use]
    pub fn delta(
        self,
        topic: Topic,
        seen: TopicProgress,
        events: &[Event],
    ) -> Option<(u64, String)> {
        match topic {
            Topic::Book(symbol) => self.changes(topic, symbol, seen.last, events),
            Topic::Trades(symbol) => self.trades(topic, symbol, seen.last, events),
            Topic::Orders(account) => self.orders(topic, account, seen, events),
            Topic::Top(_) => None,
        }
    }

    /// Of several changes at one price the message holds the last only. The sequence number before them is
    /// counted from the first of them, so that whatever is missing shows.
    fn changes(
        self,
        topic: Topic,
        symbol: Symbol,
        seen: u64,
        events: &[Event],
    ) -> Option<(u64, String)> {
        let of_symbol = events.iter().filter(|event| event.symbol == symbol);
        let new = of_symbol.filter_map(|event| event.seq.zip(event.level));
        let new = new.filter(|(seq, _)| *seq > seen);
        let mut ends: Option<(u64, u64)> = None;
        let mut levels: Vec<Level> = Vec::new();
        for (seq, level) in new {
            ends = Some((ends.map_or(seq - 1, |(before, _)| before), seq));
            let place = (level.side, level.price);
            match levels
                .iter_mut()
                .find(|other| (other.side, other.price) == place)
            {
                Some(other) => *other = level,
                None => levels.push(level),
            }
        }
        let (before, seq) = ends?;
        let changes = LevelChanges { changes: levels };
        Some((seq, self.since(topic, before, seq, &changes)))
    }

    fn trades(
        self,
        topic: Topic,
        symbol: Symbol,
        seen: u64,
        events: &[Event],
    ) -> Option<(u64, String)> {
        let trades = events
            .iter()
            .filter(|event| event.symbol == symbol)
            .filter_map(|event| match &event.kind {
                EventKind::Traded {
                    trade,
                    price,
                    quantity,
                    side,
                    maker,
                    taker,
                } if *trade > seen => Some(Trade {
                    trade: *trade,
                    at: event.at,
                    price: *price,
                    quantity: *quantity,
                    side: *side,
                    maker: maker.order,
                    taker: taker.order,
                }),
                _ => None,
            });
        let trades: Vec<_> = trades.collect();
        let seq = trades.last()?.trade;
        let trades = Trades {
            trades: trades.iter().collect(),
        };
        Some((seq, self.since(topic, seen, seq, &trades)))
    }

    /// A record with very many events may be told in several messages, of one sequence number.
    fn orders(
        self,
        topic: Topic,
        account: AccountId,
        seen: TopicProgress,
        events: &[Event],
    ) -> Option<(u64, String)> {
        let new = events
            .iter()
            .filter(|event| event.position.0 > seen.snapshot && concerns(event, account));
        let mut seq = None;
        let mut events = Vec::new();
        for event in new {
            seq = Some(event.position.0);
            OrderEventView::put(event, account, &mut events);
        }
        let seq = seq?;
        Some((
            seq,
            self.since(topic, seen.last, seq, &OrderEvents { events }),
        ))
    }

    fn since(self, topic: Topic, seen: u64, seq: u64, data: &impl Fields) -> String {
        text(&TopicMessage {
            epoch: Some(self.epoch),
            prev_seq: Some(seen),
            seq: Some(seq),
            data: Some(Object(data)),
            ..about("delta", topic)
        })
    }

    /// The client was too slow for the changes; a snapshot follows.
    #[must_use]
    pub fn lagged(self, topic: Topic, missed: u64) -> String {
        text(&TopicMessage::<Nothing> {
            epoch: Some(self.epoch),
            missed: Some(missed),
            ..about("lagged", topic)
        })
    }
}

/// A subscription has ended, as it was asked to.
#[must_use]
pub fn unsubscribed(tag: Option<&Tag>, topic: Topic) -> String {
    text(&TopicMessage::<Nothing> {
        id: tag,
        ..about("unsubscribed", topic)
    })
}

/// What will become of the session's orders when the connection ends.
#[must_use]
pub fn on_disconnect(tag: Option<&Tag>, cancel: bool) -> String {
    text(&Plain {
        op: "on_disconnect",
        id: tag,
        more: PartingChoice {
            orders: if cancel { "cancel" } else { "keep" },
        },
    })
}
