//! A client who books rooms and trades shares.

use std::net::SocketAddr;

use rand::{RngExt as _, rngs::StdRng};

use super::{history::Wanted, trades::Trader};
use crate::{
    cluster_scene::Asking,
    crash::{
        answer::Answer,
        books::Books as _,
        hotel::Hotel,
        listing::{self, ask},
        request::{self, Known},
    },
};

/// What it knows of its bookings and orders.
#[derive(Default)]
pub(super) struct Guest {
    known: Known,
    trader: Trader,
}

impl Asking for Guest {
    type Wanted = Wanted;

    fn next(&mut self, rng: &mut StdRng) -> Wanted {
        if rng.random_bool(0.3) {
            Wanted::Trade(self.trader.next(rng))
        } else {
            Wanted::Stay(request::next(rng, &mut self.known))
        }
    }

    fn words(wanted: &Wanted, key: &str) -> Vec<String> {
        match wanted {
            Wanted::Stay(request) => request.words(key),
            Wanted::Trade(request) => request.words(key),
        }
    }

    fn learn(&mut self, wanted: &Wanted, answer: &Answer) {
        match wanted {
            Wanted::Stay(request) => self.known.learn(request, answer),
            Wanted::Trade(request) => self.trader.learn(request, answer),
        }
    }
}

/// What clients need before they begin, asked at one node.
pub(super) fn open(address: SocketAddr) {
    // Nothing fails yet, so there is no other node to ask: it may take its time.
    let mut connection = listing::connect(address).expect("a node");
    let mut commands = Hotel::opening();
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    commands.extend(Trader::opening().into_iter().map(owned));
    for words in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ask(&mut connection, &words).expect("a node that serves");
    }
}
