//! What a request is about: the players to whom grants are limited.

use turnstile_chassis::{Subject, SubjectOf};
use turnstile_types::Name;

use crate::{Command, Games, PlayerId, Query, about::About};

impl SubjectOf for Games {
    fn subject_of(&self, command: &Command) -> Subject {
        subject(command.about())
    }

    fn subject_of_query(&self, query: &Query) -> Subject {
        subject(query.about())
    }
}

fn subject(about: About) -> Subject {
    match about {
        About::All => Subject::All,
        About::Public => Subject::Public,
        About::Player(player) => Subject::of(name_of(player)),
        About::Players(players) => {
            let [first, second] = players.map(name_of);
            Subject::of_both(first, second)
        }
    }
}

fn name_of(player: PlayerId) -> Name {
    Name::parse(player.as_bytes()).expect("players have the alphabet of names, and are shorter")
}
