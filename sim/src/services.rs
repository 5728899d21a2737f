//! What the simulator knows of each service: who asks for what, and what was announced.

mod access;
mod games;
mod rooms;
mod seats;
mod suite;
mod travel;

use turnstile_chassis::{PartitionRoute, Routed as _};
use turnstile_embedded::{Hosted, Services};
use turnstile_journal::Log;
use turnstile_seed::Random;
use turnstile_sequencer::{ExecuteError, Reply, Sequencer};
use turnstile_types::{
    AddressPolicy, Author, CallerAddress, DoorKind, Key, Machine, Origin, Position, Principal,
    RequestId, Timestamp,
};

use self::{
    access::AccessClients, games::GamesClients, rooms::RoomsClients, seats::SeatsClients,
    suite::SuiteClients, travel::TravelClients,
};
use crate::{
    actors::{RulesModel, SimulatedClients},
    follower::EventFollower,
    keyring::Keyring,
    patience::LateAnswerModel,
    violation::{Judged, Violation},
    witness::WitnessFeed,
};

/// What became of a request; the outcome in the bytes of its service.
pub(crate) type SimulatedAnswer = Result<Reply<Vec<u8>>, ExecuteError>;

/// Writes down what is the same for each service: from the one list of them below.
macro_rules! services {
    ($($name:ident: $machine:ident, $clients:ty;)+) => {
        $(use turnstile_services::$name::$machine;)+

        /// A service with traffic.
        #[derive(Clone, Copy)]
        enum TrafficKind {
            $($machine,)+
        }

        impl TrafficKind {
            const ALL: &[(u8, Self)] = &[$(($machine::SERVICE, Self::$machine)),+];

            fn of(service: u8) -> Self {
                let mut all = Self::ALL.iter();
                let found = all.find(|(known, _)| *known == service);
                found.expect("every service has traffic").1
            }
        }

        /// A command of one of the services.
        #[derive(Debug)]
        pub(crate) enum SimulatedRequest<'a> {
            $($machine(<$machine as Machine>::Command<'a>),)+
        }

        impl<'a> SimulatedRequest<'a> {
            /// Reads the bytes of a command that this traffic has made.
            pub(crate) fn decode(service: u8, payload: &'a [u8]) -> Self {
                match TrafficKind::of(service) {
                    $(TrafficKind::$machine => {
                        let command = $machine::decode_command(payload);
                        Self::$machine(command.expect("it was encoded by the traffic"))
                    })+
                }
            }

            /// Which of several partitions decides it.
            pub(crate) fn route(&self) -> PartitionRoute {
                match self {
                    $(Self::$machine(command) => command.route(),)+
                }
            }

            /// The number of its service, and its bytes there.
            pub(crate) fn encode(&self) -> (u8, Vec<u8>) {
                let mut payload = Vec::new();
                match self {
                    $(Self::$machine(command) => {
                        $machine::encode_command(command, &mut payload);
                        ($machine::SERVICE, payload)
                    })+
                }
            }

            pub(crate) fn execute<L: Log>(
                &self,
                server: &mut Sequencer<Services, L>,
                now: Timestamp,
                key: Option<Key<'_>>,
            ) -> SimulatedAnswer {
                match self {
                    $(Self::$machine(command) => {
                        execute::<$machine, L>(server, now, key, command)
                    })+
                }
            }
        }

        /// Makes requests to every service, and remembers what was given out.
        #[derive(Debug, Default)]
        pub(crate) struct Traffic {
            $($name: $clients,)+
        }

        impl Traffic {
            /// The requests with which every history begins.
            pub(crate) fn opening() -> Vec<SimulatedRequest<'static>> {
                let mut requests = Vec::new();
                $(requests.extend(<$clients>::opening().into_iter().map(SimulatedRequest::$machine));)+
                requests
            }

            /// One more request, made at `now`, of this service or of any.
            pub(crate) fn next<'a>(
                &self,
                random: &mut Random,
                now: Timestamp,
                service: Option<u8>,
            ) -> SimulatedRequest<'a> {
                let any = || random.pick(TrafficKind::ALL).1;
                let kind = service.map_or_else(any, TrafficKind::of);
                match kind {
                    $(TrafficKind::$machine => SimulatedRequest::$machine(self.$name.next(random, now)),)+
                }
            }

            /// Remembers what was given out with an outcome, in the bytes of its service.
            pub(crate) fn note(&mut self, service: u8, outcome: &[u8]) {
                match TrafficKind::of(service) {
                    $(TrafficKind::$machine => {
                        let outcome = $machine::decode_outcome(outcome);
                        self.$name.note(&outcome.expect("the machine made it"));
                    })+
                }
            }
        }

        /// What happened at each service, oldest first.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Happenings {
            $(pub(crate) $name: Vec<<$machine as Machine>::Event>,)+
        }

        impl Happenings {
            /// Takes what the machines have to tell.
            pub(crate) fn of(services: &mut Services) -> Self {
                let mut events = Self::default();
                $($machine::of_mut(services).move_events(&mut events.$name);)+
                events
            }

            /// Takes what has happened up to the last position.
            pub(crate) fn take_up_to(&mut self, last: Position) -> Self {
                let later = Self {
                    $($name: later::<$machine>(&mut self.$name, last),)+
                };
                std::mem::replace(self, later)
            }

            pub(crate) fn extend(&mut self, later: Self) {
                $(self.$name.extend(later.$name);)+
            }
        }

        /// Those who follow the events of each service.
        #[derive(Debug, Default)]
        pub(crate) struct Followers {
            $($name: EventFollower<$machine>,)+
        }

        impl Followers {
            /// Shows them what a running server announces.
            pub(crate) fn hear(&mut self, events: Happenings) -> Judged {
                $(events.$name.into_iter().try_for_each(|event| self.$name.hear(event))?;)+
                Ok(())
            }

            /// Shows them what a recovery announces.
            pub(crate) fn hear_again(&mut self, events: Happenings) -> Judged {
                $(events.$name.into_iter().try_for_each(|event| self.$name.hear_again(event))?;)+
                Ok(())
            }

            /// They forget what came after the last position: a damaged disk has lost it.
            pub(crate) fn forget_after(&mut self, last: Position) {
                $(self.$name.forget_after(last);)+
            }

            /// Compares what they heard with everything that has happened.
            pub(crate) fn compare(&self, happened: &Happenings) -> Judged {
                $(self.$name.compare(&happened.$name)?;)+
                Ok(())
            }
        }
    };
}

services! {
    rooms: Rooms, RoomsClients;
    exchange: Exchange, SuiteClients<Exchange>;
    travel: Travel, TravelClients;
    games: Games, GamesClients;
    seats: Seats, SeatsClients;
    access: Access, AccessClients;
}

/// Judges of a service's rules that share no code with its machine. The exchange, games and seats need
/// none here: each has a naive twin in the tests of its domain crate, which must give the same outcome,
/// events and answers as the machine.
#[derive(Debug, Default)]
pub(crate) struct RulesModels {
    rooms: WitnessFeed,
    travel: LateAnswerModel,
    access: Keyring,
}

impl RulesModels {
    /// Shows a record with everything that it caused.
    pub(crate) fn show(
        &mut self,
        record: (Position, Timestamp),
        asked: (u8, &[u8], &[u8]),
        events: &Happenings,
    ) -> Result<(), String> {
        show::<Rooms>(&mut self.rooms, record, asked, &events.rooms)?;
        show::<Travel>(&mut self.travel, record, asked, &events.travel)?;
        show::<Access>(&mut self.access, record, asked, &events.access)
    }

    pub(crate) fn agree(&self, now: Timestamp, services: &Services) -> Judged {
        let rooms = self.rooms.agrees(now, services.rooms());
        let travel = self.travel.agrees(now, services.travel());
        let access = self.access.agrees(now, services.access());
        rooms.and(travel).and(access).map_err(Violation)
    }
}

fn show<M: Machine>(
    model: &mut impl RulesModel<M>,
    record: (Position, Timestamp),
    (service, payload, outcome): (u8, &[u8], &[u8]),
    events: &[M::Event],
) -> Result<(), String> {
    if service != M::SERVICE {
        return model.show(record, None, events);
    }
    let command = M::decode_command(payload).expect("it was encoded by the traffic");
    let outcome = M::decode_outcome(outcome).expect("the machine made it");
    model.show(record, Some((&command, &outcome)), events)
}

/// Where a command with this key comes from: a request whose id is the key, if it has one.
pub(crate) fn origin_of(key: Option<Key<'_>>) -> Origin<'_> {
    Origin {
        door: DoorKind::Resp,
        address: CallerAddress::of([203, 0, 113, 7].into(), AddressPolicy::Network),
        request_id: key.map(|key| RequestId::parse(key.as_str().as_bytes()).expect("a plain key")),
    }
}

fn execute<M: Hosted, L: Log>(
    server: &mut Sequencer<Services, L>,
    now: Timestamp,
    key: Option<Key<'_>>,
    command: &M::Command<'_>,
) -> SimulatedAnswer {
    let author = Author {
        principal: &Principal::local(),
        origin: &origin_of(key),
    };
    let reply = server.execute::<M>(now, author, key, command, None)?;
    Ok(reply.map(|outcome| {
        let mut bytes = Vec::new();
        M::encode_outcome(&outcome, &mut bytes);
        bytes
    }))
}

/// Takes what happened after the last position.
fn later<M: Machine>(events: &mut Vec<M::Event>, last: Position) -> Vec<M::Event> {
    let at = events.partition_point(|event| M::place_of(event).0 <= last);
    events.split_off(at)
}
