//! What is told when it is durable: to those who follow, and to those who wait for a late answer.

use turnstile_games::Games;
use turnstile_resp::travel;
use turnstile_travel::{Event, EventKind, Travel};

use super::FastLoop;
use crate::{
    core::{conversation::Doors, news::News, security_log::SECURITY_CHANNEL, tickets::LateWaiter},
    registry::{Registered as _, SomeServices},
};

macro_rules! tell_events {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn tell_events(&mut self, news: &News) {
            $(for event in &news.$name.events {
                let channel = turnstile_services::$name::$machine::channel(event);
                self.tell((&channel, &turnstile_json::object(event)));
            })+
        }
    };
}

impl<D: Doors> FastLoop<D> {
    /// Of which services anybody wants to know what happens.
    pub(super) fn followed(&self) -> SomeServices {
        let mut followed = self.kept();
        if !self.followers.is_empty() {
            followed = SomeServices::ALL;
        }
        if self.doors.follows_games() {
            followed.add::<Games>();
        }
        followed
    }

    /// Of which services somebody may ask for what has happened.
    pub(super) fn kept(&self) -> SomeServices {
        self.feeds.kept()
    }

    /// Tells what durable groups have changed, and keeps it where somebody may ask for it.
    pub(super) fn publish(&mut self, news: &mut News, kept: SomeServices) {
        if !self.followers.is_empty() {
            self.tell_followers(news);
        }
        self.doors.learn(&mut self.engine, news);
        self.feeds.publish(news, kept);
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
        self.tell_events(news);
    }

    turnstile_services::services!(tell_events);

    /// Tells those who follow it what has happened to the security of the server. It is no record, so it
    /// waits for no group.
    pub(super) fn tell_security(&mut self) {
        let (told, last) = (self.security_told, self.engine.security.last());
        if told == last {
            return;
        }
        self.security_told = last;
        if self.followers.is_empty() {
            return;
        }
        let (_lost, events) = self.engine.security.read(told);
        for event in &events {
            self.tell((SECURITY_CHANNEL, &turnstile_json::object(event)));
        }
        self.send_told(self.followers.clone());
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
        for event in &news.travel.events {
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
                    LateWaiter::Asked(reply) => drop(reply.send(Some(outcome.clone()))),
                    LateWaiter::Connection(place) => {
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
