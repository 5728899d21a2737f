//! What the machine does when it is asked.

mod decide;
mod lines;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use turnstile_chassis::{Countable, Decode, Encode as _, Needs as _, Served};
use turnstile_types::{
    Context, Effect, Machine, Malformed, Position, Principal, Reader, Sink, Timestamp,
};

use crate::{
    Answer, Command, Desk, Event, EventKind, Outcome, PerDesk, Query, Refusal, Report, Request,
    Say, Settings, Totals, Travel,
    channel::Channel,
    check,
    coordinator::{Coordinator, Moment},
    limits,
    participant::Participant,
    queries,
};

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"travel\0\x04";

/// The same of a state in which no transaction belongs to a principal of its own, as long as there were
/// none.
const MAGIC_UNHELD: &[u8; 8] = b"travel\0\x03";

/// The form before trips were staged.
const MAGIC_UNSTAGED: &[u8; 8] = b"travel\0\x02";

impl Machine for Travel {
    type Command<'a> = Command;
    type Outcome = Outcome;
    type Query = Query;
    type Answer = Answer;
    type Event = Event;

    const SERVICE: u8 = 3;

    fn empty() -> Self {
        Self {
            settings: Settings::FIRST,
            coordinator: Coordinator::new(),
            desks: PerDesk::each(|_| Participant::new()),
            to_desks: PerDesk::each(|_| Channel::new()),
            to_coordinator: PerDesk::each(|_| Channel::new()),
            late: BTreeMap::new(),
            pending: BTreeSet::new(),
            reports: VecDeque::new(),
            say: Vec::new(),
            events: Vec::new(),
            stages: false,
            promised: false,
            last_event: (Position(0), 0),
        }
    }

    fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.promised = false;
        let blocks = self.coordinator.xid_blocks();
        self.sweep(context);
        let decided = self.decide(context, command);
        self.carry(context.now);
        let outcome = match decided {
            Ok(Some(done)) => Outcome::Done(done),
            Ok(None) => self.own_answer(context.position),
            Err(refusal) => Outcome::Refused(refusal),
        };
        self.tell(context);
        // Whoever takes the first xid of a block makes all others of it safe to tell.
        self.promised |= outcome.is_firm() || self.coordinator.xid_blocks() != blocks;
        self.hurry();
        outcome
    }

    fn has_promised(&self) -> bool {
        self.promised
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        match outcome {
            Outcome::Done(_) => Effect::Done,
            // Under the same ticket comes how it ended.
            Outcome::Waiting { .. } | Outcome::Refused(Refusal::InDoubt(_)) => Effect::Pending,
            Outcome::Refused(_) => Effect::Refused,
        }
    }

    fn late_outcomes(&self, position: Position, take: &mut dyn FnMut(Position, &Outcome)) {
        let earlier = self
            .events
            .partition_point(|event| event.position < position);
        for event in self.events.iter().skip(earlier) {
            if let EventKind::Answered { ticket, outcome } = &event.kind {
                take(*ticket, outcome);
            }
        }
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        let desks = self.distant_desks().flat_map(|desk| {
            let postponed = self.to_coordinator.at(desk).due;
            self.abandoned_at(desk).into_iter().chain(postponed)
        });
        let lines = self.to_desks.iter().filter_map(|(_, line)| line.due);
        let desks = desks.chain(lines);
        desks.chain(self.coordinator.next_deadline()).min()
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.sweep(context);
        self.tell(context);
        // A tick is synced whatever it does.
        self.promised = true;
        self.hurry();
    }

    fn query(&self, _now: Timestamp, _principal: &Principal, query: &Query) -> Answer {
        queries::answer(self, query)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.events.drain(..).for_each(take);
    }

    turnstile_chassis::declared_bytes!();

    fn snapshot(&self, out: &mut dyn Sink) {
        let holders = &self.coordinator.holders;
        let magic = if holders.is_empty() {
            MAGIC_UNHELD
        } else {
            MAGIC
        };
        let mut bytes = magic.to_vec();
        self.settings.encode(&mut bytes);
        self.coordinator.encode(&mut bytes);
        self.desks.encode(&mut bytes);
        self.to_desks.encode(&mut bytes);
        self.to_coordinator.encode(&mut bytes);
        self.late.encode(&mut bytes);
        self.coordinator.booked.encode(&mut bytes);
        self.stages.encode(&mut bytes);
        if !holders.is_empty() {
            holders.encode(&mut bytes);
        }
        out.put(&bytes);
    }

    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let magic = reader.take(MAGIC.len(), "magic")?;
        if ![MAGIC, MAGIC_UNHELD, MAGIC_UNSTAGED]
            .iter()
            .any(|known| magic == *known)
        {
            return Err(Malformed { field: "magic" });
        }
        let mut travel = Self {
            settings: Decode::decode(reader, "settings")?,
            coordinator: Decode::decode(reader, "coordinator")?,
            desks: Decode::decode(reader, "desks")?,
            to_desks: Decode::decode(reader, "to desks")?,
            to_coordinator: Decode::decode(reader, "to coordinator")?,
            late: Decode::decode(reader, "late")?,
            ..Self::empty()
        };
        if magic != MAGIC_UNSTAGED {
            travel.coordinator.booked = Decode::decode(reader, "booked")?;
            travel.stages = Decode::decode(reader, "stages")?;
        } else {
            travel.coordinator.booked = travel.coordinator.issued;
        }
        if magic == MAGIC {
            travel.coordinator.holders = Decode::decode(reader, "holders")?;
            let has_some = !travel.coordinator.holders.is_empty();
            Malformed::unless(has_some, "holders")?;
        }
        travel.pending = travel.coordinator.tickets().collect();
        check::examine(&travel).map_err(|_violations| Malformed { field: "travel" })?;
        Ok(travel)
    }

    fn place_of(event: &Event) -> (Position, u32) {
        (event.position, event.ordinal)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        check::examine(self)
    }
}

impl Served for Travel {
    const NAME: &'static str = "travel";
    const ABOUT: &'static str = "Transactions and itineraries over flights, cars and rooms";

    type Totals = Totals;

    fn is_new(&self) -> bool {
        self.is_new()
    }

    fn opens(&self, command: &Command) -> Option<Countable> {
        command.needed().opens.then_some(Countable::Transactions)
    }

    fn open_of(&self, principal: &Principal, of: Countable) -> u32 {
        match of {
            Countable::Transactions => {
                let open = self.coordinator.open_of(principal);
                u32::try_from(open).expect("open transactions are limited")
            }
            Countable::Holds | Countable::Orders => 0,
        }
    }

    fn standing(&self) -> Vec<(u64, String)> {
        let totals = self.totals();
        vec![
            (totals.itineraries, "itineraries stand".to_owned()),
            (totals.open, "transactions are open".to_owned()),
        ]
    }
}

impl Travel {
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether nothing is open here, and nothing waits for a peer to know it.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.coordinator.transactions.is_empty()
            && Desk::ALL.into_iter().all(|desk| self.is_idle(desk))
            && self.to_desks.iter().all(|(_, line)| line.is_at_rest())
            && self
                .to_coordinator
                .iter()
                .all(|(_, line)| line.is_at_rest())
    }

    /// Whether nothing is open at the desk.
    #[must_use]
    pub fn is_idle(&self, desk: Desk) -> bool {
        let desk = self.desks.at(desk);
        desk.branches.is_empty() && desk.settled.is_empty()
    }

    pub(crate) const fn moment(&self, now: Timestamp) -> Moment {
        Moment {
            now,
            settings: self.settings,
            stages: self.stages,
        }
    }

    /// The desks here whose coordinator is elsewhere.
    fn distant_desks(&self) -> impl Iterator<Item = Desk> + use<> {
        let roles = self.settings.roles;
        roles.desks.iter().filter(move |_| !roles.coordinator)
    }

    pub(crate) fn abandoned_at(&self, desk: Desk) -> Option<Timestamp> {
        let patience_ms = self.settings.lifetime_ms * limits::LIFETIMES_OF_PATIENCE;
        self.desks.at(desk).abandoned_at(patience_ms)
    }

    /// Does everything that is due.
    fn sweep(&mut self, context: &Context<'_>) {
        let moment = self.moment(context.now);
        while self.coordinator.give_up_one(moment) {
            self.carry(context.now);
        }
        for desk in self.distant_desks() {
            if self.abandoned_at(desk).is_some_and(|at| at <= context.now) {
                self.desks.at_mut(desk).abandon();
            }
            let line = self.to_coordinator.at_mut(desk);
            if line.due.is_some_and(|at| at <= context.now) {
                self.promised |= line.hurry();
            }
        }
        for desk in Desk::ALL {
            let line = self.to_desks.at_mut(desk);
            if line.due.is_some_and(|at| at <= context.now) {
                self.promised |= line.hurry();
            }
        }
    }

    /// Decisions about staged trips go with a record that is synced anyway, and at once when somebody
    /// waits for one.
    fn hurry(&mut self) {
        let impatient = std::mem::take(&mut self.coordinator.impatient);
        if self.promised || impatient {
            for desk in Desk::ALL {
                self.promised |= self.to_desks.at_mut(desk).hurry();
            }
        }
    }

    /// Carries what is said to whom it is said, until nobody says more. Reports go before
    /// requests, so that the coordinator decides by the latest that it can know.
    fn carry(&mut self, now: Timestamp) {
        let mut say = std::mem::take(&mut self.say);
        loop {
            if let Some((desk, report)) = self.reports.pop_front() {
                self.report(now, desk, report);
            } else if let Some((desk, request)) = self.coordinator.next_request() {
                self.request(now, desk, request, &mut say);
                self.reports
                    .extend(say.drain(..).map(|report| (desk, report)));
            } else if let Some((desk, request)) = self.coordinator.next_later() {
                self.postpone(now, desk, request);
            } else {
                break;
            }
        }
        self.say = say;
    }

    fn request(&mut self, now: Timestamp, desk: Desk, request: Request, say: &mut Vec<Report>) {
        if self.settings.roles.desks.contains(desk) {
            return self.desks.at_mut(desk).hear(request, say);
        }
        let line = self.to_desks.at_mut(desk);
        if line.is_full() {
            line.renew();
            let moment = self.moment(now);
            return self.coordinator.desk_lost(moment, desk);
        }
        self.promised |= line.send(request);
    }

    /// Keeps a decision back until it goes to the disk with something else.
    fn postpone(&mut self, now: Timestamp, desk: Desk, request: Request) {
        let line = self.to_desks.at_mut(desk);
        if line.is_full() {
            line.renew();
            let moment = self.moment(now);
            return self.coordinator.desk_lost(moment, desk);
        }
        self.promised |= line.postpone(request, now.plus_ms(limits::DECISION_MS));
    }

    fn report(&mut self, now: Timestamp, desk: Desk, report: Report) {
        if self.settings.roles.coordinator {
            let moment = self.moment(now);
            return self.coordinator.hear(moment, desk, report);
        }
        let line = self.to_coordinator.at_mut(desk);
        if line.is_full() {
            line.renew();
            return self.restate(desk);
        }
        // What the coordinator has decided itself, it can wait to hear again.
        let is_echo = matches!(report.say, Say::Ended { committed: true })
            && !self.desks.at(desk).settled.contains_key(&report.xid);
        self.promised |= if is_echo {
            line.postpone(report, now.plus_ms(limits::POSTPONED_MS))
        } else {
            line.send(report)
        };
    }

    /// The answer to the command that is being applied, if it has one already.
    fn own_answer(&mut self, ticket: Position) -> Outcome {
        let mut answers = self.coordinator.answers.iter();
        if let Some(at) = answers.position(|(position, _)| *position == ticket) {
            return self.coordinator.answers.remove(at).1;
        }
        self.pending.insert(ticket);
        Outcome::Waiting { ticket }
    }

    /// Tells what happened: first what was decided, then the answers that somebody waits for.
    fn tell(&mut self, context: &Context<'_>) {
        self.promised |= std::mem::take(&mut self.coordinator.promised);
        // Both lists are given back, so that their memory is used again.
        let mut news = std::mem::take(&mut self.coordinator.news);
        for kind in news.drain(..) {
            self.put_event(context, kind);
        }
        self.coordinator.news = news;
        let mut answers = std::mem::take(&mut self.coordinator.answers);
        for (ticket, outcome) in answers.drain(..) {
            self.pending.remove(&ticket);
            self.late.insert(ticket, outcome.clone());
            if self.late.len() > limits::LATE_ANSWERS_MAX {
                self.late.pop_first();
            }
            self.put_event(context, EventKind::Answered { ticket, outcome });
        }
        self.coordinator.answers = answers;
    }

    fn put_event(&mut self, context: &Context<'_>, kind: EventKind) {
        if self.last_event.0 != context.position {
            self.last_event = (context.position, 0);
        }
        let ordinal = self.last_event.1;
        self.last_event.1 += 1;
        self.events.push(Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
        });
    }
}
