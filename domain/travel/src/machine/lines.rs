//! Roles in other processes: messages to them and from them.

use turnstile_types::Timestamp;

use crate::{
    Body, Desk, Desks, Done, EventKind, Parcel, Refusal, Settings, Travel, Xid,
    channel::{Arrival, Channel},
    coordinator::Coordinator,
    participant::Participant,
};

impl Travel {
    /// The desks whose line leads to another process.
    #[must_use]
    pub const fn lines(&self) -> Desks {
        let roles = self.settings.roles;
        if roles.coordinator {
            roles.desks.others()
        } else {
            roles.desks
        }
    }

    /// What is to be sent on a line after the parcel of this number, oldest first and so many at
    /// most; after 0: everything that the peer has not acknowledged.
    ///
    /// Contract: parcels of a line leave in this order, on one connection at a time. While a record
    /// that has promised something is not durable, none that [waits](Parcel::waits_for_its_group)
    /// for it MUST leave, nor anything behind it on its line. All that is
    /// not acknowledged MUST be sent again when a connection is new, and at least once in a
    /// lifetime; where there is nothing, the greeting, which also acknowledges what came, and
    /// without which a desk takes its coordinator for lost.
    #[must_use]
    pub fn parcels(&self, desk: Desk, after: u64, limit: usize) -> Vec<Parcel> {
        if self.settings.roles.coordinator {
            let parcels = self.to_desks.at(desk).parcels(desk, after, Body::Request);
            parcels.take(limit).collect()
        } else {
            let line = self.to_coordinator.at(desk);
            let parcels = line.parcels(desk, after, Body::Report);
            parcels.take(limit).collect()
        }
    }

    /// How many parcels wait at this end of a line for the peer to take them.
    #[must_use]
    pub fn unacknowledged(&self, desk: Desk) -> usize {
        let requests = self.to_desks.at(desk).unacknowledged.len();
        requests + self.to_coordinator.at(desk).unacknowledged.len()
    }

    /// Whether a transaction has voted yes at a desk here and waits for its decision.
    #[must_use]
    pub fn is_in_doubt(&self, desk: Desk, xid: Xid) -> bool {
        let branch = self.desks.at(desk).branches.get(&xid);
        branch.is_some_and(|branch| branch.prepared)
    }

    /// How many transactions wait so at a desk.
    #[must_use]
    pub fn in_doubt(&self, desk: Desk) -> usize {
        let branches = self.desks.at(desk).branches.values();
        branches.filter(|branch| branch.prepared).count()
    }

    /// A parcel that holds nothing, and tells this end's life and what it has taken. Firm.
    #[must_use]
    pub fn greeting(&self, desk: Desk) -> Parcel {
        if self.settings.roles.coordinator {
            self.to_desks.at(desk).parcel(desk, 0, Body::Request(None))
        } else {
            self.to_coordinator
                .at(desk)
                .parcel(desk, 0, Body::Report(None))
        }
    }

    pub(super) fn deliver(&mut self, now: Timestamp, parcel: &Parcel) -> Result<Done, Refusal> {
        let desk = parcel.desk;
        if !self.lines().contains(desk) {
            return Err(Refusal::NotHere);
        }
        match (&parcel.body, self.settings.roles.coordinator) {
            (Body::Report(report), true) => {
                let moment = self.moment(now);
                let line = self.to_desks.at_mut(desk);
                if line.meets(parcel.life) {
                    self.coordinator.desk_lost(moment, desk);
                    self.coordinator.tell(EventKind::Met { desk });
                }
                let line = self.to_desks.at_mut(desk);
                if let (Arrival::Take, Some(report)) = (line.arrives(parcel), report) {
                    self.coordinator.hear(moment, desk, report.clone());
                }
            }
            (Body::Request(request), false) => {
                let line = self.to_coordinator.at_mut(desk);
                if line.meets(parcel.life) {
                    self.restate(desk);
                }
                let line = self.to_coordinator.at_mut(desk);
                if line.peer_life == parcel.life {
                    self.desks.at_mut(desk).heard = now;
                }
                if let (Arrival::Take, Some(request)) = (line.arrives(parcel), request) {
                    let mut say = Vec::new();
                    self.desks.at_mut(desk).hear(request.clone(), &mut say);
                    self.reports
                        .extend(say.into_iter().map(|report| (desk, report)));
                }
            }
            (Body::Report(_), false) | (Body::Request(_), true) => return Err(Refusal::NotHere),
        }
        Ok(Done::Delivered)
    }

    /// The process has started anew. What was open here is aborted; what others must know is said
    /// again, in the new life of each line.
    pub(super) fn recover(&mut self, now: Timestamp) -> Done {
        let moment = self.moment(now);
        if self.settings.roles.coordinator {
            self.coordinator.recover(moment);
            self.pending = self.coordinator.tickets().collect();
            self.carry(now);
        }
        for desk in self.lines().iter() {
            if self.settings.roles.coordinator {
                self.to_desks.at_mut(desk).renew();
                self.coordinator.desk_lost(moment, desk);
            } else {
                self.to_coordinator.at_mut(desk).renew();
                self.restate(desk);
            }
        }
        Done::Recovered
    }

    /// A desk says again, on a line that has just begun a new life, what the coordinator must know.
    pub(super) fn restate(&mut self, desk: Desk) {
        let mut say = Vec::new();
        self.desks.at_mut(desk).restate(&mut say);
        self.reports.retain(|(other, _)| *other != desk);
        let line = self.to_coordinator.at_mut(desk);
        for report in say {
            self.promised |= line.send(report);
        }
    }

    /// Whether it is as it was at first: then it need not be kept anywhere.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.settings == Settings::FIRST
            && self.late.is_empty()
            && self.is_unused()
            && self
                .to_desks
                .iter()
                .all(|(_, line)| *line == Channel::new())
            && self
                .to_coordinator
                .iter()
                .all(|(_, line)| *line == Channel::new())
    }

    /// Whether nothing has happened yet that a role would keep.
    pub(super) fn is_unused(&self) -> bool {
        self.coordinator == Coordinator::new()
            && self
                .desks
                .iter()
                .all(|(_, desk)| *desk == Participant::new())
            && self.to_desks.iter().all(|(_, line)| is_silent(line))
            && self.to_coordinator.iter().all(|(_, line)| is_silent(line))
    }
}

/// Whether nothing has gone over the line.
fn is_silent<M>(line: &Channel<M>) -> bool {
    line.sent == 0 && line.received == 0
}
