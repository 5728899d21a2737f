//! The machine: its entry points.

mod act;
mod due;
mod pairing;
mod presence;
mod results;

use turnstile_chassis::{Events, Served};
use turnstile_types::{
    Context, Effect, Machine, Malformed, Position, Principal, Reader, Sink, Timestamp,
};

use crate::{
    Answer, Change, Command, Done, Event, EventKind, Games, Outcome, Query, Refusal, Settings,
    Totals, arena::Arena, check, queries, scores::Scores, snapshot,
};

impl Machine for Games {
    type Command<'a> = Command;
    type Outcome = Outcome;
    type Query = Query;
    type Answer = Answer;
    type Event = Event;

    const SERVICE: u8 = 4;

    fn empty() -> Self {
        Self {
            settings: Settings::FIRST,
            arena: Arena::new(),
            scores: Scores::new(),
            events: Events::empty(),
        }
    }

    fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.sweep(context);
        self.decide(context, command).into()
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        outcome.effect()
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        self.due().map(|(at, _)| at)
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.sweep(context);
    }

    fn query(&self, now: Timestamp, _principal: &Principal, query: &Query) -> Answer {
        queries::answer(self, now, query)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.events.drain(take);
    }

    turnstile_chassis::declared_bytes!();

    fn snapshot(&self, out: &mut dyn Sink) {
        snapshot::write(self, out);
    }

    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        snapshot::read(reader)
    }

    fn place_of(event: &Event) -> (Position, u32) {
        (event.position, event.ordinal)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        check::examine(self)
    }
}

impl Served for Games {
    const NAME: &'static str = "games";
    const ABOUT: &'static str = "Games of two players, and their standings";

    type Totals = Totals;

    fn is_new(&self) -> bool {
        self.is_new()
    }

    fn standing(&self) -> Vec<(u64, String)> {
        let totals = self.totals();
        vec![
            (totals.results, "results are counted".to_owned()),
            (totals.open.into(), "matches are open".to_owned()),
        ]
    }
}

impl Games {
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether it is as it was at first: then it need not be kept anywhere.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.settings == Settings::FIRST && self.is_unused()
    }

    fn is_unused(&self) -> bool {
        self.arena.is_new() && self.scores.is_new()
    }

    /// How much there is, as the last record left it.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let waiting = self.arena.queues.iter().map(|queue| queue.tickets().len());
        Totals {
            players: self.arena.guests.len(),
            open: self.arena.matches.open(),
            begun: self.arena.matches.begun(),
            moves: self.arena.moves,
            seeking: u32::try_from(waiting.sum::<usize>()).unwrap_or(u32::MAX),
            away: self.arena.away.len(),
            unreported: self.arena.outbox.len(),
            rated: self.scores.records.len(),
            results: self.scores.results,
        }
    }

    /// Whether anybody wants to know what happens from now on; at first somebody does.
    pub const fn want_events(&mut self, wanted: bool) {
        self.events.want(wanted);
    }

    /// The position of the last event that nobody wanted, since this was asked last.
    pub const fn take_dropped_events(&mut self) -> Option<Position> {
        self.events.take_dropped()
    }

    fn decide(&mut self, context: &Context<'_>, command: &Command) -> Result<Done, Refusal> {
        match *command {
            Command::Challenge {
                player,
                opponent,
                game,
            } => self.challenge(context, [player, opponent], game),
            Command::Seek { player, game } => self.seek(context, player, game),
            Command::Withdraw { player } => self.withdraw(context, &player),
            Command::Begin { game, players } => self.begin(context, game, players),
            Command::Act {
                match_id,
                player,
                deed,
            } => self.act(context, (match_id, &player), deed),
            Command::Connect { player } => self.connect(context, player),
            Command::Disconnect { player } => self.disconnect(context, &player),
            Command::Restarted => self.restarted(context),
            Command::Configure(settings) => self.configure(settings),
            Command::Acknowledge { number, standings } => {
                self.acknowledge(context, number, standings)
            }
            Command::Deliver(parcel) => self.deliver(context, &parcel),
            Command::Report { players, verdict } => self.report(context, players, verdict),
        }
    }

    fn configure(&mut self, settings: Settings) -> Result<Done, Refusal> {
        if !self.accepts(&settings) {
            return Err(Refusal::UnsoundSettings);
        }
        self.settings = settings;
        Ok(Done::Configured)
    }

    /// Whether it could be configured so.
    #[must_use]
    pub fn accepts(&self, settings: &Settings) -> bool {
        let fixed = |settings: &Settings| (settings.roles, settings.arena);
        let moves = fixed(settings) != fixed(&self.settings) && !self.is_unused();
        !moves && settings.is_sound()
    }

    /// Only where matches are played.
    const fn in_arena(&self) -> Result<(), Refusal> {
        if self.settings.roles.arena {
            Ok(())
        } else {
            Err(Refusal::NotHere)
        }
    }

    fn tell(&mut self, context: &Context<'_>, kind: EventKind) {
        self.events.put(context.position, |ordinal| Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
        });
    }

    /// Tells a change of a match, of which its number takes note.
    fn tell_change(&mut self, context: &Context<'_>, slot: u32, change: Change) {
        self.arena.matches.at_mut(slot).seq += 1;
        self.tell_state(context, slot, change);
    }

    fn tell_state(&mut self, context: &Context<'_>, slot: u32, change: Change) {
        let arena = &self.arena;
        self.events.put(context.position, |ordinal| Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind: EventKind::Match {
                change,
                state: arena.view(slot),
            },
        });
    }
}
