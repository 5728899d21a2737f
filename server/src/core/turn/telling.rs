//! What is told when it is durable: to those who follow, and to those who wait for a late answer.

use turnstile_chassis::Routed;
use turnstile_games::Games;
use turnstile_json::InPartition;
use turnstile_resp::travel;
use turnstile_travel::{Event, EventKind, Travel};
use turnstile_types::PartitionNumber;

use super::FastLoop;
use crate::{
    core::{
        conversation::DoorSet, feed::ToldEvents, news::News, security_log::SECURITY_CHANNEL,
        tickets::LateWaiter,
    },
    registry::{Registered as _, SomeServices},
};

macro_rules! tell_events {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn tell_events(&mut self, news: &News) {
            let first = self.engine.partitions.as_ref().map(|all| all.name_of(PartitionNumber::FIRST));
            let first = first.map(str::to_owned);
            $({
                let is_spread = <turnstile_services::$name::Query as Routed>::IS_SPREAD;
                let partition = first.as_deref().filter(|_| is_spread);
                for fields in &news.$name.events {
                    let channel = turnstile_services::$name::$machine::channel(fields);
                    let message = match partition {
                        Some(partition) => turnstile_json::object(&InPartition { partition, fields }),
                        None => turnstile_json::object(fields),
                    };
                    self.tell((&channel, &message));
                }
            })+
        }
    };
}

impl<D: DoorSet> FastLoop<D> {
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
        if let Some(home) = &self.home {
            home.ring_for_events();
        }
        if !self.followers.is_empty() {
            self.send_told(self.followers.clone());
        }
    }

    /// Tells the connections that follow what durable groups have changed.
    fn tell_followers(&mut self, news: &News) {
        self.drop_deaf();
        self.tell_events(news);
    }

    /// A connection follows something from now on, or nothing any more.
    pub(super) fn note_following(&mut self, place: usize, follows: bool) {
        self.followers.retain(|&follower| follower != place);
        if follows {
            self.followers.push(place);
            if let Some(partitions) = &mut self.engine.partitions {
                partitions.begin_following();
            }
        }
    }

    /// Tells the connections that follow what has happened in other partitions of this node. Each tells its
    /// events in its own order; those of different partitions have none.
    pub(super) fn tell_of_partitions(&mut self) {
        let Some(partitions) = &mut self.engine.partitions else {
            return;
        };
        if self.followers.is_empty() {
            return partitions.end_following();
        }
        let told = partitions.tell_on();
        if told == ToldEvents::default() {
            return;
        }
        self.drop_deaf();
        for (channel, message) in &told.messages {
            self.tell((channel, message));
        }
        self.send_told(self.followers.clone());
        if told.has_missed {
            tracing::warn!(
                "subscribers dropped: events of another partition came too fast to tell"
            );
            for place in self.followers.clone() {
                self.close(place);
            }
        }
    }

    /// Drops the connections that follow and take nothing.
    fn drop_deaf(&mut self) {
        let mut dropped = 0;
        for &place in &self.followers {
            if let Some(connection) = self.connections.get_mut(place) {
                dropped += u64::from(connection.drop_if_deaf(&self.limits));
            }
        }
        if let Some(dropped) = self.deaf_followers.count(dropped) {
            tracing::info!(dropped, "subscribers dropped: they did not keep up");
        }
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
                            if let Some(note) = connection.take_note() {
                                self.engine.notes.tell(note);
                            }
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
