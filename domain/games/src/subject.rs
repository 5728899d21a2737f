//! What a request is about: the players to whom grants are limited.

use turnstile_chassis::Subject;
use turnstile_types::Name;

use crate::{Command, PlayerId, Query};

pub(crate) fn of_command(command: &Command) -> Subject {
    match command {
        // Whom a player challenges, and in which match a player moves, the rules decide.
        Command::Challenge { player, .. }
        | Command::Seek { player, .. }
        | Command::Withdraw { player }
        | Command::Act { player, .. }
        | Command::Connect { player }
        | Command::Disconnect { player } => Subject::of(name_of(player)),
        Command::Begin { players, .. } | Command::Report { players, .. } => {
            let [first, second] = players.each_ref().map(name_of);
            Subject::of_both(first, second)
        }
        Command::Restarted
        | Command::Configure(_)
        | Command::Acknowledge { .. }
        | Command::Deliver(_) => Subject::All,
    }
}

pub(crate) fn of_query(query: &Query) -> Subject {
    match query {
        // It shows whom the player has challenged.
        Query::Player { player } => Subject::of(name_of(player)),
        // Matches have spectators, and standings are published.
        Query::Match { .. }
        | Query::Matches { .. }
        | Query::Tickets { .. }
        | Query::Standing { .. }
        | Query::Against { .. }
        | Query::Opponents { .. }
        | Query::Leaders { .. }
        | Query::Around { .. }
        | Query::Totals => Subject::Public,
    }
}

fn name_of(player: &PlayerId) -> Name {
    Name::parse(player.as_bytes()).expect("players have the alphabet of names, and are shorter")
}
