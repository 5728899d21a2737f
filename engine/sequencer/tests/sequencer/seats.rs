//! A toy machine: seats are taken once, and a seat taken for a time comes back when it is over.

use std::{cell::RefCell, collections::BTreeMap};

use turnstile_types::{
    Context, Effect, Machine, Malformed, Position, Principal, Reader, Sink, Timestamp, put_u64,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Take {
    pub(crate) seat: u64,
    /// For how long; zero is for ever.
    pub(crate) ms: u64,
    /// So many zeros make the command longer, and nothing else.
    pub(crate) padding: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Taken,
    /// Who has it, by the position of the record.
    Refused(Position),
}

/// Seats by number: who took it, and until when.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seats {
    taken: BTreeMap<u64, (Position, Timestamp)>,
    events: Vec<u64>,
    /// The seats of commands that were prefetched, each with how many were taken then.
    pub(crate) prefetched: RefCell<Vec<(u64, usize)>>,
}

impl Machine for Seats {
    type Command<'a> = Take;
    type Outcome = Outcome;
    type Query = u64;
    type Answer = Option<Position>;
    type Event = u64;

    const SERVICE: u8 = 100;

    fn empty() -> Self {
        Self::default()
    }

    fn apply(&mut self, context: &Context<'_>, command: &Take) -> Outcome {
        if let Some((position, _until)) = self.taken.get(&command.seat) {
            return Outcome::Refused(*position);
        }
        let until = if command.ms == 0 {
            u64::MAX
        } else {
            context.now.0 + command.ms
        };
        self.taken
            .insert(command.seat, (context.position, Timestamp(until)));
        self.events.push(command.seat);
        Outcome::Taken
    }

    fn prefetch(&self, command: &Take) {
        let mut prefetched = self.prefetched.borrow_mut();
        prefetched.push((command.seat, self.taken.len()));
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        match outcome {
            Outcome::Taken => Effect::Done,
            Outcome::Refused(_) => Effect::Refused,
        }
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        let untils = self.taken.values().map(|(_position, until)| *until);
        untils.min().filter(|until| until.0 != u64::MAX)
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.taken
            .retain(|_seat, (_position, until)| *until > context.now);
    }

    fn query(&self, _now: Timestamp, _principal: &Principal, seat: &u64) -> Option<Position> {
        self.taken.get(seat).map(|(position, _until)| *position)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(u64)) {
        self.events.drain(..).for_each(take);
    }

    fn encode_command(command: &Take, out: &mut Vec<u8>) {
        put_u64(out, command.seat);
        put_u64(out, command.ms);
        out.resize(out.len() + command.padding, 0);
    }

    fn decode_command(bytes: &[u8]) -> Result<Take, Malformed> {
        let mut reader = Reader::new(bytes);
        Ok(Take {
            seat: reader.u64("seat")?,
            ms: reader.u64("ms")?,
            padding: reader.remaining(),
        })
    }

    fn encode_outcome(outcome: &Outcome, out: &mut Vec<u8>) {
        put_u64(
            out,
            if let Outcome::Refused(position) = outcome {
                position.0
            } else {
                0
            },
        );
    }

    fn decode_outcome(bytes: &[u8]) -> Result<Outcome, Malformed> {
        Ok(match Reader::new(bytes).u64("outcome")? {
            0 => Outcome::Taken,
            position => Outcome::Refused(Position(position)),
        })
    }

    fn snapshot(&self, out: &mut dyn Sink) {
        for (seat, (position, until)) in &self.taken {
            for number in [*seat, position.0, until.0] {
                out.put(&number.to_le_bytes());
            }
        }
    }

    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut seats = Self::default();
        while !reader.is_empty() {
            let seat = reader.u64("seat")?;
            let position = Position(reader.u64("position")?);
            seats
                .taken
                .insert(seat, (position, Timestamp(reader.u64("until")?)));
        }
        Ok(seats)
    }

    fn place_of(event: &u64) -> (Position, u32) {
        (Position(*event), 0)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        Ok(())
    }
}
