//! What is told when it is durable: to those who follow, and to those who wait for a late answer.

use turnstile_resp::{exchange, games, rooms, travel};
use turnstile_travel::{Event, EventKind, LateAnswer, Travel};

use super::FastLoop;
use crate::core::{
    conversation::Doors,
    news::{Followed, News},
    tickets::Waiter,
};

impl<D: Doors> FastLoop<D> {
    /// Of which services anybody wants to know what happens.
    pub(super) fn followed(&self) -> Followed {
        let kept = self.kept();
        let has_followers = !self.followers.is_empty();
        Followed {
            exchange: kept.exchange || has_followers,
            games: kept.games || has_followers || self.doors.follows_games(),
        }
    }

    /// Of which services somebody may ask for what has happened.
    pub(super) fn kept(&self) -> Followed {
        Followed {
            exchange: self.exchange.is_kept(),
            games: self.games.is_kept(),
        }
    }

    /// Tells what durable groups have changed, and keeps it where somebody may ask for it.
    pub(super) fn publish(&mut self, news: &mut News, kept: Followed) {
        if !self.followers.is_empty() {
            self.tell_followers(news);
        }
        self.doors.learn(&mut self.engine, news);
        self.rooms.publish(news.rooms.drain(..));
        if kept.exchange {
            self.exchange.publish(news.exchange.drain(..));
        }
        if let Some(event) = news.exchange.drain(..).next_back() {
            news.exchange_dropped = Some(event.position);
        }
        if let Some(position) = news.exchange_dropped.take() {
            self.exchange.drop_up_to(position);
        }
        if !kept.games
            && let Some(event) = news.games.drain(..).next_back()
        {
            news.games_dropped = news.games_dropped.max(Some(event.position));
        }
        if let Some(position) = news.games_dropped.take() {
            self.games.drop_up_to(position);
            news.games.retain(|event| event.position > position);
        }
        self.games.publish(news.games.drain(..));
        // A late answer may be long, and is for the one who asked.
        let is_told = |event: &Event| !matches!(event.kind, EventKind::Answered { .. });
        self.travel.publish(news.travel.drain(..).filter(is_told));
        if !self.followers.is_empty() {
            self.send_told(self.followers.clone());
        }
    }

    /// Tells the connections that follow what durable groups have changed.
    fn tell_followers(&mut self, news: &News) {
        let mut dropped = 0;
        for &place in &self.followers {
            if let Some(connection) = self.connections.get_mut(place) {
                dropped += u64::from(connection.drop_if_deaf(&self.limits));
            }
        }
        if let Some(dropped) = self.deaf_followers.count(dropped) {
            tracing::info!(dropped, "subscribers dropped: they did not keep up");
        }
        let mut tell = |channel: &str, message: &str| self.tell((channel, message));
        for event in &news.rooms {
            tell(rooms::CHANNEL, &turnstile_json::object(event));
        }
        for event in &news.exchange {
            tell(
                &exchange::channel(event.symbol),
                &turnstile_json::object(event),
            );
        }
        for event in &news.games {
            tell(games::CHANNEL, &turnstile_json::object(event));
        }
        for event in &news.travel {
            tell(travel::CHANNEL, &turnstile_json::object(event));
        }
    }

    /// Tells every follower one message. A large group has many, so when too much is owed they are sent
    /// what there is, and those who do not take it are dropped.
    fn tell(&mut self, message: (&str, &str)) {
        for &place in &self.followers {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.tell(message);
                self.connections.recount(place);
            }
        }
        if self.owes_too_much() {
            self.send_told(self.followers.clone());
            self.shed();
        }
    }

    /// Notes in the log of the server what operators have decided by hand.
    pub(super) fn note_resolved(news: &News) {
        for event in &news.travel {
            if let EventKind::Resolved {
                desk,
                xid,
                commit,
                by,
            } = &event.kind
            {
                let (position, by) = (event.position, &*by.0);
                tracing::info!(%position, %desk, %xid, commit, by, "resolved by hand");
            }
        }
    }

    /// Gives what was answered late to those who wait for it.
    pub(super) fn answer_late(&mut self, news: &[Event]) {
        let mut told = Vec::new();
        for event in news {
            let EventKind::Answered { ticket, outcome } = &event.kind else {
                continue;
            };
            self.engine.counters.outcome::<Travel>(outcome);
            self.engine.end_late(*ticket);
            for waiter in self.tickets.take(*ticket) {
                match waiter {
                    Waiter::Asked(reply) => drop(reply.send(LateAnswer::Given(outcome.clone()))),
                    Waiter::Connection(place) => {
                        if let Some(connection) = self.connections.get_mut(place) {
                            let decided = travel::Decided {
                                position: event.position,
                                ordinal: event.ordinal,
                            };
                            connection.put_late((*ticket, decided), outcome);
                            told.push(place);
                        }
                    }
                }
            }
        }
        self.send_told(told);
    }

    /// Sends each of these connections what it was told.
    pub(super) fn send_told(&mut self, mut told: Vec<usize>) {
        let connections = &mut self.connections;
        let waits = |&&place: &&usize| connections.get_mut(place).is_some_and(|one| one.waits());
        // Those whose messages stand behind answers of the open group get them with these.
        self.open.places.extend(told.iter().filter(waits));
        self.send(&mut told);
    }
}
