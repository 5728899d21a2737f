//! Where a stream begins: the feeds that it follows, and the place in each.

use std::{pin::Pin, time::Instant};

use tokio::sync::futures::OwnedNotified;
use turnstile_chassis::Routed;
use turnstile_http::{EventId, EventIds, FieldError, Place as FieldPlace, Problem};
use turnstile_types::{Name, Position};

use super::{Door, Follower, Source, Sources, Streamed};
use crate::{
    core::{
        feed::{FeedStart, Place},
        partitions::FollowedPartition,
    },
    doors::http::reply::RaisedProblem,
};

/// A feed that is to be followed.
pub(super) struct StreamSource<M: Streamed> {
    /// The partition that it tells of, if the stream tells of several.
    pub(super) partition: Option<String>,
    pub(super) source: Source<M>,
}

/// A feed that a stream follows, and the place in it.
pub(super) struct StreamPart<M: Streamed> {
    /// The partition that it tells of, if the stream tells of several.
    pub(super) partition: Option<String>,
    pub(super) source: Source<M>,
    pub(super) place: Place,
    pub(super) news: Pin<Box<OwnedNotified>>,
    pub(super) _follower: Follower<M>,
}

/// The same, from where on it is told.
pub(super) struct BegunPart<M: Streamed> {
    pub(super) from: StreamSource<M>,
    pub(super) start: FeedStart,
    /// The last event that the client has, as far as that is known.
    pub(super) told: EventId,
}

/// The feeds that are to be followed: that of the partition of this name, or those of all, in their order.
pub(super) fn sources_in<M: Streamed>(
    door: &Door,
    partition: Option<Name>,
) -> Result<Vec<StreamSource<M>>, Problem> {
    let others = &door.about.partitions;
    let own = || M::source(&door.sources).clone();
    let alone = |source| {
        vec![StreamSource {
            partition: None,
            source,
        }]
    };
    let Some(name) = partition else {
        if !door.gate.is_spread || !<M::Query as Routed>::IS_SPREAD {
            return Ok(alone(own()));
        }
        if let Some(missing) = others.elsewhere.first() {
            return Err(unknown_partition(format!(
                "all partitions tell {}, each its own events: {}",
                M::NAME,
                held_elsewhere(door, missing)
            )));
        }
        let all = door.others.iter().zip(&others.others);
        let all = all.map(
            |(sources, other): (&Sources, &FollowedPartition)| StreamSource {
                partition: Some(other.name.clone()),
                source: M::source(sources).clone(),
            },
        );
        let first = StreamSource {
            partition: Some(others.first.clone()),
            source: own(),
        };
        return Ok([first].into_iter().chain(all).collect());
    };
    if door.gate.is_spread && others.first == name.as_str() {
        return Ok(alone(own()));
    }
    if let Some((_, sources)) = door.other(name.as_str()) {
        return Ok(alone(M::source(sources).clone()));
    }
    let is_elsewhere = others.elsewhere.iter().any(|one| one == name.as_str());
    Err(unknown_partition(match is_elsewhere {
        true => held_elsewhere(door, name.as_str()),
        false => format!("there is no partition {name}"),
    }))
}

fn held_elsewhere(door: &Door, partition: &str) -> String {
    let known = &door.about.partitions.known;
    known.holders_in_words(Instant::now(), partition, "http")
}

fn unknown_partition(message: String) -> Problem {
    invalid("partition", message)
}

fn invalid(field: &str, message: String) -> Problem {
    Problem::invalid(vec![FieldError {
        place: FieldPlace::Query,
        field: field.to_owned(),
        message,
    }])
}

/// An event that no feed ever tells.
const NOWHERE: EventId = EventId {
    position: Position(u64::MAX),
    ordinal: u32::MAX,
};

/// Where the stream of a client begins that saw `last`: an event of each feed.
pub(super) async fn begin_parts<M: Streamed>(
    door: &Door,
    sources: Vec<StreamSource<M>>,
    last: Option<EventIds>,
) -> Result<Vec<BegunPart<M>>, RaisedProblem> {
    let last = match last {
        None => vec![None; sources.len()],
        Some(ids) if ids.0.len() == sources.len() => ids.0.into_iter().map(Some).collect(),
        // They are of a cluster that this server is none of: it hears that nothing goes on here.
        Some(_) if !door.gate.is_spread => vec![Some(NOWHERE)],
        Some(ids) => {
            let names = sources.iter().filter_map(|one| one.partition.as_deref());
            let message = format!(
                "it names {} events, and the stream has {} feeds ({}): one for each, in this order",
                ids.0.len(),
                sources.len(),
                match &*names.collect::<Vec<_>>().join(", ") {
                    "" => M::NAME,
                    names => names,
                }
            );
            return Err(RaisedProblem::from(invalid("since", message)));
        }
    };
    let mut begun = Vec::with_capacity(sources.len());
    for (from, last) in sources.into_iter().zip(last) {
        let (start, told) = start_of::<M>(door, &from, last).await?;
        begun.push(BegunPart { from, start, told });
    }
    Ok(begun)
}

/// Where a feed is followed from by a client that saw `last`, and the last event that it has then.
async fn start_of<M: Streamed>(
    door: &Door,
    from: &StreamSource<M>,
    last: Option<EventId>,
) -> Result<(FeedStart, EventId), RaisedProblem> {
    let feed = &from.source.feed;
    let (place, newest) = feed.newest();
    let Some(last) = last else {
        return Ok((FeedStart::At(place), newest));
    };
    // Most often it is the position of an answer that had no event.
    if feed.is_beyond(last) {
        let mut others = door.about.partitions.others.iter().zip(&door.others);
        let is_its = |sources: &Sources| std::ptr::eq(&*M::source(sources).feed, &**feed);
        let position = match others.find(|(_, sources)| is_its(sources)) {
            Some((other, _)) => other.position(),
            None => door.courier.status().await?.backend.position,
        };
        if last.position > position {
            let first = newest.following();
            return Ok((FeedStart::Elsewhere { first, place }, newest));
        }
    }
    let start = feed.after(last);
    let told = match start {
        FeedStart::At(_) => last,
        FeedStart::Elsewhere { first, .. } => first.preceding(),
    };
    Ok((start, told))
}
