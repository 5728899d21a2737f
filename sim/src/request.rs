//! One request of a simulated client, to whichever service.

use turnstile_embedded::Services;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_journal::Log;
use turnstile_rooms::Rooms;
use turnstile_sequencer::{ExecuteError, Reply, Sequencer};
use turnstile_travel::Travel;
use turnstile_types::{Hosts, Key, Machine, Principal, Timestamp};

/// A command of one of the services.
#[derive(Debug)]
pub(crate) enum Request<'a> {
    Rooms(turnstile_rooms::Command<'a>),
    Exchange(turnstile_exchange::Command),
    Travel(turnstile_travel::Command),
    Games(turnstile_games::Command),
}

/// What became of a request; the outcome in the bytes of its service.
pub(crate) type Answer = Result<Reply<Vec<u8>>, ExecuteError>;

impl<'a> Request<'a> {
    /// Reads the bytes of a command that this traffic has made.
    pub(crate) fn decode(service: u8, payload: &'a [u8]) -> Self {
        match service {
            Rooms::SERVICE => {
                let command = Rooms::decode_command(payload);
                Self::Rooms(command.expect("it was encoded by the traffic"))
            }
            Travel::SERVICE => {
                let command = Travel::decode_command(payload);
                Self::Travel(command.expect("it was encoded by the traffic"))
            }
            Games::SERVICE => {
                let command = Games::decode_command(payload);
                Self::Games(command.expect("it was encoded by the traffic"))
            }
            _ => {
                let command = Exchange::decode_command(payload);
                Self::Exchange(command.expect("it was encoded by the traffic"))
            }
        }
    }

    /// The number of its service, and its bytes there.
    pub(crate) fn encode(&self) -> (u8, Vec<u8>) {
        let mut payload = Vec::new();
        match self {
            Self::Rooms(command) => {
                Rooms::encode_command(command, &mut payload);
                (Rooms::SERVICE, payload)
            }
            Self::Exchange(command) => {
                Exchange::encode_command(command, &mut payload);
                (Exchange::SERVICE, payload)
            }
            Self::Travel(command) => {
                Travel::encode_command(command, &mut payload);
                (Travel::SERVICE, payload)
            }
            Self::Games(command) => {
                Games::encode_command(command, &mut payload);
                (Games::SERVICE, payload)
            }
        }
    }

    pub(crate) fn execute<L: Log>(
        &self,
        server: &mut Sequencer<Services, L>,
        now: Timestamp,
        key: Option<Key<'_>>,
    ) -> Answer {
        match self {
            Self::Rooms(command) => execute::<Rooms, L>(server, now, key, command),
            Self::Exchange(command) => execute::<Exchange, L>(server, now, key, command),
            Self::Travel(command) => execute::<Travel, L>(server, now, key, command),
            Self::Games(command) => execute::<Games, L>(server, now, key, command),
        }
    }
}

fn execute<M: Machine, L: Log>(
    server: &mut Sequencer<Services, L>,
    now: Timestamp,
    key: Option<Key<'_>>,
    command: &M::Command<'_>,
) -> Answer
where
    Services: Hosts<M>,
{
    let reply = server.execute::<M>(now, &Principal::local(), key, command)?;
    let mut outcome = Vec::new();
    M::encode_outcome(&reply.outcome, &mut outcome);
    Ok(Reply {
        position: reply.position,
        replayed: reply.replayed,
        outcome,
    })
}
