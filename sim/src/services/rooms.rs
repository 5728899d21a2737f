//! What simulated guests ask for.

use turnstile_rooms::{
    CancelReason, Command, Done, GuestId, GuestName, IdKey, IdNumber, Outcome, Reference, Rooms,
    Wish,
};
use turnstile_seed::Random;
use turnstile_types::{Name, Night, Stay, Timestamp};

use crate::actors::SimulatedClients;

const PROPERTIES: [&[u8]; 2] = [b"inn", b"open"];
const ROOMS: [&[u8]; 4] = [b"1", b"2", b"10", b"suite"];
const TYPES: [&[u8]; 2] = [b"double", b"open"];
const GUESTS: [&[u8]; 3] = [b"Ada", b"Bob", b"\xc3\x89mile"];
/// The first night on which anybody stays: 2027-01-01.
const FIRST_NIGHT: u16 = 20_819;

/// Makes commands, and remembers the references that were given out.
#[derive(Debug)]
pub(crate) struct RoomsClients {
    references: Vec<Reference>,
    ids: [GuestId; 3],
}

fn name(text: &[u8]) -> Name {
    Name::parse(text).expect("a name of the simulated world")
}

impl Default for RoomsClients {
    fn default() -> Self {
        let key = IdKey::new([7; 16]);
        let ids = [b"234123412346", b"111111111111", b"999999999999"];
        let seal = |digits: &[u8; 12]| {
            key.seal(IdNumber::parse(digits, false).expect("an id number of the simulated world"))
        };
        Self {
            references: Vec::new(),
            ids: ids.map(seal),
        }
    }
}

impl SimulatedClients<Rooms> for RoomsClients {
    fn opening() -> Vec<Command<'static>> {
        let [inn, open] = PROPERTIES.map(name);
        let mut commands = vec![
            Command::AddProperty {
                property: inn,
                open: false,
            },
            Command::AddProperty {
                property: open,
                open: true,
            },
        ];
        let rooms = ROOMS.map(name);
        commands.extend(rooms.map(|room| Command::AddRoom {
            property: inn,
            room,
            room_type: name(TYPES[0]),
        }));
        commands
    }

    fn next(&self, random: &mut Random, _now: Timestamp) -> Command<'static> {
        let property = name(random.pick(&PROPERTIES));
        let stay = stay(random);
        match random.below(20) {
            0..=7 => Command::Book {
                property,
                wish: wish(random),
                stay,
                guest: guest(random),
                id: random.pick(&self.ids),
            },
            8..=10 => Command::Hold {
                property,
                wish: wish(random),
                stay,
                ttl_ms: ttl(random),
            },
            11..=12 => Command::Confirm {
                hold: self.reference(random),
                guest: guest(random),
                id: random.pick(&self.ids),
            },
            13 => Command::Extend {
                hold: self.reference(random),
                ttl_ms: ttl(random),
            },
            14 => Command::Release {
                hold: self.reference(random),
            },
            15 => Command::StopSell {
                property,
                room: name(random.pick(&ROOMS)),
                stay,
                stopped: random.one_in(2),
            },
            16 if random.one_in(4) => Command::WithdrawRoom {
                property,
                room: name(random.pick(&ROOMS)),
            },
            17 if random.one_in(2) => Command::CancelForGuest {
                booking: self.reference(random),
                reason: CancelReason::parse(b"the house is closed").expect("it is short"),
            },
            18 => Command::Move {
                booking: self.reference(random),
                wish: wish(random),
                stay,
                id: random.pick(&self.ids),
            },
            _ => Command::Cancel {
                booking: self.reference(random),
                id: random.pick(&self.ids),
            },
        }
    }

    fn note(&mut self, outcome: &Outcome) {
        if let Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) =
            outcome
        {
            self.references.push(*reference);
        }
    }
}

impl RoomsClients {
    fn reference(&self, random: &mut Random) -> Reference {
        if self.references.is_empty() || random.one_in(20) {
            return Reference {
                slot: 3,
                generation: 0,
            };
        }
        random.pick(&self.references)
    }
}

fn stay(random: &mut Random) -> Stay {
    let day = |days: u64| Night::from_days(FIRST_NIGHT + u16::try_from(days).expect("a few days"));
    let arrival = random.below(6);
    Stay::new(day(arrival), day(arrival + 1 + random.below(3))).expect("one to three nights")
}

fn wish(random: &mut Random) -> Wish {
    match random.below(4) {
        0 => Wish::Any,
        1 => Wish::Type(name(random.pick(&TYPES))),
        _ => Wish::Room(name(random.pick(&ROOMS))),
    }
}

fn guest(random: &mut Random) -> GuestName<'static> {
    GuestName::parse(random.pick(&GUESTS)).expect("a guest of the simulated world")
}

fn ttl(random: &mut Random) -> u32 {
    u32::try_from(1 + random.below(60_000)).expect("at most a minute")
}
