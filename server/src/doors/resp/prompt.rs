//! How this door writes the answers of each service.

use turnstile_embedded::Reply;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_resp::{Encoder, exchange, games, rooms, travel};
use turnstile_rooms::Rooms;
use turnstile_travel::Travel;

use crate::{
    core::{remote::Housed, shares::Opens},
    registry::plain_services,
};

/// A service whose answers this door writes.
pub(super) trait Prompt: Opens + Housed {
    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>);

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer);
}

macro_rules! plain {
    ($($name:ident: $types:ident::$machine:ident),+ $(,)?) => {$(
        impl Prompt for $types::$machine {
            fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
                let (position, replayed) = (decided.position, decided.replayed);
                turnstile_resp::$name::put_outcome(reply, &decided.outcome, position, replayed);
            }

            fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
                turnstile_resp::$name::put_answer(reply, answer);
            }
        }
    )+};
}

plain_services!(plain);

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

impl Prompt for Travel {
    fn put_outcome(reply: &mut Encoder<'_>, decided: &Reply<Self>) {
        travel::put_outcome(reply, &decided.outcome, decided.position, decided.replayed);
    }

    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
        travel::put_answer(reply, answer);
    }
}
