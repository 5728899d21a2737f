//! What an operator must know while a log runs: brokers are asked again now and then.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use async_nats::connection::State;

use crate::{
    event::{BrokerWarning, LogEvent},
    survey::{Survey, survey},
};

use super::LogWorker;

/// How often all brokers are asked for their version, and whether they sync.
const SURVEY: Duration = Duration::from_secs(60);

/// Warnings that are remembered, so that none is told twice.
const WARNINGS_MAX: usize = 256;

impl LogWorker {
    pub(super) fn begin_survey(&mut self, now: Instant) {
        if self.survey.is_none() && now >= self.next_survey {
            self.next_survey = now + SURVEY;
            let settings = self.settings.clone();
            self.survey = Some(Box::pin(async move { survey(&settings).await }));
        }
    }

    /// Tells what was not told before.
    pub(super) fn surveyed(&mut self, result: Result<Survey, String>) {
        // A file that cannot be read any more is told at the next start.
        let Ok(survey) = result else {
            return;
        };
        let refused = survey
            .refused
            .map(|(broker, refused)| BrokerWarning::RefusedVersion { broker, refused });
        for warning in survey.warnings.into_iter().chain(refused) {
            if !self.warned.contains(&warning) && self.warned.len() < WARNINGS_MAX {
                self.warned.push(warning.clone());
                self.emit(LogEvent::Warning(warning));
            }
        }
    }

    pub(super) fn notice_connection(&mut self, now: Instant) {
        let is_connected = self.client.connection_state() == State::Connected;
        let connects = self.client.statistics().connects.load(Ordering::Relaxed);
        let known = self.shared.connects.swap(connects, Ordering::Relaxed);
        let is_new = is_connected && (!self.is_connected || connects != known);
        self.is_connected = is_connected;
        let server = || self.client.server_info().server_name;
        self.connected = is_connected.then(server);
        if !is_connected {
            self.proposals.disconnected();
        } else if is_new {
            // Answers to what was asked before are lost.
            self.proposals.connected();
            self.detach(now);
            self.attaching.restart(now);
            self.look = None;
            self.next_look = now;
            self.purge = None;
            self.last_success = now;
            self.next_survey = now;
            self.signals.forget();
        }
    }

    /// Another broker is tried when this one may be cut off from the others, also if its own consumer
    /// lives.
    pub(super) async fn move_if_tired(&mut self, now: Instant) {
        let since = self.proposals.troubled_since();
        let since = since.map_or(self.last_success, |since| since.min(self.last_success));
        let is_tired = now.saturating_duration_since(since.max(self.last_move)) > super::PATIENCE;
        if self.is_connected && is_tired {
            self.last_move = now;
            if let Err(_closed) = self.client.force_reconnect().await {
                self.signals.changed.notify_one();
            }
        }
    }
}
