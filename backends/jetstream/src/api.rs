//! Requests about streams and consumers, in the broker's own JSON.

use std::{fmt, time::Duration};

use async_nats::{Client, StatusCode, client::Request};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::timeout;

/// The broker has no such stream.
pub(crate) const NO_STREAM: u32 = 10_059;

/// Why a request got no answer that helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nothing is known of what became of it.
    Unknown(String),
    /// The broker says no, with its number for the reason.
    Refused { number: u32, reason: String },
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(reason) => f.write_str(reason),
            Self::Refused { number, reason } => write!(f, "{reason} ({number})"),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct BrokerError {
    #[serde(default)]
    pub(crate) err_code: u32,
    #[serde(default)]
    pub(crate) description: String,
}

/// Asks the brokers, and waits for the answer.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    client: Client,
    timeout: Duration,
}

impl Api {
    pub(crate) const fn new(client: Client, timeout: Duration) -> Self {
        Self { client, timeout }
    }

    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        what: &str,
        body: Value,
    ) -> Result<T, NoAnswer> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::new()
            .payload(body.into())
            .timeout(Some(self.timeout));
        let subject = format!("$JS.API.{what}");
        let sent = self.client.send_request(subject, request);
        // The library's own limit does not count the time until the request leaves.
        let answer = timeout(self.timeout * 2, sent).await;
        let answer =
            answer.map_err(|_elapsed| NoAnswer::Unknown("no answer in time".to_owned()))?;
        let answer = answer.map_err(|error| NoAnswer::Unknown(error.to_string()))?;
        if answer.status == Some(StatusCode::NO_RESPONDERS) {
            return Err(NoAnswer::Unknown("no broker answers".to_owned()));
        }
        let answer: Value = serde_json::from_slice(&answer.payload)
            .map_err(|error| NoAnswer::Unknown(format!("an answer that is no JSON: {error}")))?;
        if let Some(error) = answer.get("error") {
            let error = BrokerError::deserialize(error)
                .map_err(|error| NoAnswer::Unknown(error.to_string()))?;
            return Err(NoAnswer::Refused {
                number: error.err_code,
                reason: error.description,
            });
        }
        T::deserialize(answer).map_err(|error| NoAnswer::Unknown(error.to_string()))
    }
}

/// What a broker says of a stream.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StreamReport {
    pub(crate) config: Value,
    /// When it was made, as the broker writes it: who it is.
    pub(crate) created: String,
    pub(crate) state: StreamState,
    pub(crate) cluster: Option<StreamCluster>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct StreamState {
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    #[serde(default)]
    pub(crate) bytes: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StreamCluster {
    pub(crate) leader: Option<String>,
}

impl StreamReport {
    /// The broker that leads. One that is alone, which this answer would come from, does.
    pub(crate) fn leader(&self, asked: &str) -> Option<String> {
        let Some(cluster) = &self.cluster else {
            return Some(asked.to_owned());
        };
        cluster.leader.clone().filter(|leader| !leader.is_empty())
    }

    /// Whether what is said comes from a leader.
    pub(crate) fn has_leader(&self) -> bool {
        self.leader("").is_some()
    }
}
