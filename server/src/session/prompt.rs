//! The services whose every request is answered at once, and how this door writes the answers.

use turnstile_embedded::Reply;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_resp::{Encoder, exchange, games, rooms};
use turnstile_rooms::Rooms;

use crate::counters::Counted;

/// A service that answers at once: no command of it waits.
pub(super) trait Prompt: Counted {
    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>);

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer);
}

impl Prompt for Rooms {
    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        rooms::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        rooms::put_answer(reply, answer);
    }
}

impl Prompt for Exchange {
    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        exchange::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        exchange::put_answer(reply, answer);
    }
}

impl Prompt for Games {
    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        games::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        games::put_answer(reply, answer);
    }
}
