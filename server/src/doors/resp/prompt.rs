//! The services whose every request is answered at once, or by a database, and how this door writes
//! the answers.

use turnstile_contract::Service;
use turnstile_embedded::Reply;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_resp::{Encoder, exchange, games, rooms};
use turnstile_rooms::Rooms;

use crate::core::{
    remote::{Housed as _, Remote, Remotes},
    shares::Opens,
};

/// A service that answers at once, unless a database does: no command of it waits for another.
pub(crate) trait Prompt: Opens + Service {
    /// Its database, where it has one.
    fn database(remotes: &Remotes) -> Option<&Remote<Self>>;

    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>);

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer);
}

impl Prompt for Rooms {
    fn database(remotes: &Remotes) -> Option<&Remote<Self>> {
        Self::remote(remotes)
    }

    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        rooms::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        rooms::put_answer(reply, answer);
    }
}

impl Prompt for Exchange {
    fn database(remotes: &Remotes) -> Option<&Remote<Self>> {
        Self::remote(remotes)
    }

    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        exchange::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        exchange::put_answer(reply, answer);
    }
}

impl Prompt for Games {
    fn database(_remotes: &Remotes) -> Option<&Remote<Self>> {
        None
    }

    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        games::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        games::put_answer(reply, answer);
    }
}
