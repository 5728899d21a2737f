//! How entries come: asking for them, taking what arrives, and giving up a consumer that fails.

use std::{sync::atomic::Ordering, time::Instant};

use async_nats::{Message, StatusCode};

use crate::{
    event::{Fatal, LogEvent},
    id::ProposalId,
    reading::{Delivered, DeliveryKind, ID_HEADER},
    stream,
};

use super::{
    EntrySource, HEARTBEAT, LogWorker, PULL_BYTES, PULL_ENTRIES, PULL_TIME, UNREAD_BYTES_MAX,
    attaching::{Attached, NotAttached},
    nanos,
};

/// About what a broker stores beside the bytes of an entry: its subject, its id, its place.
const STORED_BESIDE: u64 = 128;

impl LogWorker {
    /// Asks for more entries, if the caller has room for them.
    pub(super) async fn ask_for_entries(&mut self, now: Instant) {
        let unread = self.shared.unread_bytes.load(Ordering::SeqCst);
        let has_room = self.unsent.is_empty() && unread < UNREAD_BYTES_MAX;
        let may_ask = !self.consumer.name.is_empty() && self.consumer.asked.is_none();
        if !self.is_connected || !may_ask || !has_room {
            return;
        }
        let ask = serde_json::json!({
            "batch": PULL_ENTRIES,
            "max_bytes": PULL_BYTES,
            "expires": nanos(PULL_TIME),
            "idle_heartbeat": nanos(HEARTBEAT),
        });
        let name = stream::name(&self.settings);
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{name}.{}", self.consumer.name);
        self.consumer.requests += 1;
        let (name, number) = (&self.consumer.name, self.consumer.requests);
        let reply = format!("{}.p.{name}.{number}", self.inbox);
        let sent = self
            .client
            .publish_with_reply(subject, reply, ask.to_string().into())
            .await;
        if sent.is_ok() {
            self.consumer.asked = Some(PULL_ENTRIES);
            self.consumer.alive_until = Some(now + self.settings.timeouts.silence);
        }
    }

    /// A status of the request for entries.
    pub(super) fn heard_of_consumer(&mut self, now: Instant, status: Option<StatusCode>) {
        match status {
            Some(StatusCode::IDLE_HEARTBEAT) => self.consumer_lives(now),
            // The request has ended by its time.
            Some(StatusCode::TIMEOUT) => {
                self.consumer_lives(now);
                self.consumer.asked = None;
            }
            // The request has ended by its bytes. If it has brought nothing, something else is wrong.
            Some(status)
                if status == StatusCode::REQUEST_TERMINATED
                    && self.consumer.asked.is_some_and(|rest| rest < PULL_ENTRIES) =>
            {
                self.consumer.asked = None;
            }
            _ => self.detach(now),
        }
    }

    pub(super) fn consumer_lives(&mut self, now: Instant) {
        self.consumer.alive_until = Some(now + self.settings.timeouts.silence);
    }

    /// An entry has arrived.
    pub(super) fn delivered(&mut self, now: Instant, message: Message) -> Result<(), Fatal> {
        let Some(reply) = &message.reply else {
            return Ok(());
        };
        let Some(delivered) = Delivered::parse(reply.as_str()) else {
            return Ok(());
        };
        if delivered.consumer != self.consumer.name {
            return Ok(());
        }
        self.consumer_lives(now);
        self.consumer.asked = match self.consumer.asked {
            Some(1) | None => None,
            Some(more) => Some(more - 1),
        };
        if self.consumer.asked.is_none() {
            self.consumer.alive_until = None;
        }
        let id = message.headers.as_ref().and_then(|headers| {
            let id = headers.get(ID_HEADER)?;
            ProposalId::parse(id.as_str())
        });
        match self.reading.judge(delivered, id, message.payload)? {
            DeliveryKind::Known => {}
            DeliveryKind::Missing => self.detach(now),
            DeliveryKind::Next(entry) => {
                self.consumer.brought = Some(now);
                self.shared
                    .hint
                    .fetch_max(entry.sequence.0, Ordering::Relaxed);
                if let Some(id) = &entry.id {
                    self.proposals.seen(id);
                }
                if entry.sequence.0 > self.measured {
                    let stored = entry.bytes.len() as u64 + STORED_BESIDE;
                    self.shared.bytes.fetch_add(stored, Ordering::Relaxed);
                }
                let unread = &self.shared.unread_bytes;
                unread.fetch_add(entry.bytes.len(), Ordering::SeqCst);
                self.emit(LogEvent::Entry(entry));
            }
        }
        Ok(())
    }

    /// The consumer is given up; another is asked for.
    pub(super) fn detach(&mut self, now: Instant) {
        if self.consumer.name.is_empty() {
            return;
        }
        let gone = std::mem::take(&mut self.consumer);
        self.attaching.again(now, gone.name);
        self.shared.reattached.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn attached(
        &mut self,
        now: Instant,
        result: Result<Attached, NotAttached>,
    ) -> Result<(), Fatal> {
        match self.attaching.ended(now, result)? {
            None => Ok(()),
            Some(Attached { consumer, info }) => {
                self.reading.attached();
                self.consumer = EntrySource {
                    name: consumer,
                    brought: Some(now),
                    ..EntrySource::default()
                };
                self.heard(now, &info)
            }
        }
    }

    /// A consumer that lives and brings nothing, although there is something, is given up: the copy of
    /// its broker may be damaged.
    pub(super) fn notice_stall(&mut self, now: Instant) {
        let is_behind = self.shared.hint.load(Ordering::Relaxed) > self.reading.taken().0;
        let silence = self.settings.timeouts.silence;
        let is_still = |brought: Instant| now.saturating_duration_since(brought) > silence;
        let is_asked = self.consumer.asked.is_some();
        if is_behind && is_asked && self.consumer.brought.is_some_and(is_still) {
            self.detach(now);
        }
    }
}
