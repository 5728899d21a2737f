//! The chunks of one snapshot, in their order, from whatever broker has them.

use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    api::{Api, NoAnswer},
    id::Sequence,
    reading::Delivered,
};

use super::{SnapshotError, unavailable};

/// Chunks of one request: 8 MiB on their way.
const CHUNKS: u64 = 16;

/// How long a broker may bring no chunk.
const SILENCE: Duration = Duration::from_secs(3);

/// How many consumers may bring nothing before the next chunk is missing. Each may be on another
/// broker: one may lag, or have a damaged copy.
const TRIES_MAX: u32 = 8;

/// Between two consumers.
const PAUSE: Duration = Duration::from_millis(300);

const SECOND_NANOS: u64 = 1_000_000_000;

/// Reads chunks one after the other.
pub(super) struct Chunks<'a> {
    client: &'a Client,
    api: &'a Api,
    stream: String,
    inbox: String,
    messages: Subscriber,
    /// The consumer that brings chunks; empty while there is none.
    consumer: String,
    count: u32,
    /// What it brings next.
    number: u64,
    /// Chunks that were asked for and have not come.
    asked: u64,
    /// The place of the last chunk in the stream.
    last: Sequence,
}

impl<'a> Chunks<'a> {
    pub(super) async fn new(
        client: &'a Client,
        api: &'a Api,
        stream: String,
    ) -> Result<Self, SnapshotError> {
        let inbox = client.new_inbox();
        let messages = client.subscribe(format!("{inbox}.>")).await;
        Ok(Self {
            client,
            api,
            stream,
            inbox,
            messages: messages.map_err(unavailable)?,
            consumer: String::new(),
            count: 0,
            number: 1,
            asked: 0,
            last: Sequence(0),
        })
    }

    /// The next chunk under this subject; nothing if no broker has it. While brokers do not answer, that is
    /// not known.
    pub(super) async fn next(&mut self, subject: &str) -> Result<Option<Bytes>, SnapshotError> {
        let mut unanswered = None;
        for tried in 0..TRIES_MAX {
            if tried > 0 {
                sleep(PAUSE).await;
            }
            match self.try_next(subject).await {
                Ok(Some(chunk)) => return Ok(Some(chunk)),
                Ok(None) => {}
                Err(error) => unanswered = Some(error),
            }
            self.consumer.clear();
        }
        unanswered.map_or(Ok(None), Err)
    }

    async fn try_next(&mut self, subject: &str) -> Result<Option<Bytes>, SnapshotError> {
        if self.consumer.is_empty() {
            self.attach(subject).await.map_err(unavailable)?;
        }
        if self.asked == 0 {
            self.ask().await?;
        }
        loop {
            let Ok(Some(message)) = timeout(SILENCE, self.messages.next()).await else {
                return Ok(None);
            };
            let Some(delivered) = message.reply.as_ref().and_then(|reply| {
                let delivered = Delivered::parse(reply.as_str())?;
                (delivered.consumer == self.consumer).then_some(delivered)
            }) else {
                if self.is_end(&message) {
                    return Ok(None);
                }
                continue;
            };
            if delivered.number != self.number {
                return Ok(None);
            }
            self.last = delivered.sequence;
            self.number += 1;
            self.asked -= 1;
            return Ok(Some(message.payload));
        }
    }

    /// Whether a message ends the request of this consumer: its time is over, or there is none.
    fn is_end(&self, message: &Message) -> bool {
        let consumer = message.subject.as_str().rsplit('.').next();
        message.status.is_some() && consumer == Some(self.consumer.as_str())
    }

    /// Makes a consumer that begins behind the last chunk.
    async fn attach(&mut self, subject: &str) -> Result<(), NoAnswer> {
        let token = self.inbox.rsplit('.').next().unwrap_or_default();
        self.count += 1;
        let name = format!("{token}-{}", self.count);
        let config = json!({
            "name": name,
            "filter_subject": subject,
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self.last.next().0,
            "ack_policy": "none",
            "replay_policy": "instant",
            "inactive_threshold": 30 * SECOND_NANOS,
            "num_replicas": 1,
            "mem_storage": true,
        });
        let order = json!({ "stream_name": self.stream, "config": config, "action": "create" });
        let what = format!("CONSUMER.CREATE.{}.{name}.{subject}", self.stream);
        let made = self.api.ask::<Value>(&what, order).await;
        (self.number, self.asked) = (1, 0);
        made?;
        self.consumer = name;
        Ok(())
    }

    async fn ask(&mut self) -> Result<(), SnapshotError> {
        let order = json!({ "batch": CHUNKS, "expires": 2 * SECOND_NANOS });
        let subject = format!(
            "$JS.API.CONSUMER.MSG.NEXT.{}.{}",
            self.stream, self.consumer
        );
        let reply = format!("{}.{}", self.inbox, self.consumer);
        let sent = self
            .client
            .publish_with_reply(subject, reply, order.to_string().into())
            .await;
        sent.map_err(unavailable)?;
        self.asked = CHUNKS;
        Ok(())
    }
}
