//! The ancestor's client: what it sends and what it must read, worked out by hand from its wire.

use std::collections::VecDeque;

use turnstile_duel::DuelSeat;

/// The claim byte of the last move, and the cells of all moves.
pub(crate) type Game = (u8, &'static [u8]);

/// A first game that its starter wins at move 7, as the ancestor's load generator plays; a draw;
/// and a game that the second to move wins, so that the same player starts twice.
pub(crate) const GAMES: [Game; 4] = [
    (8, &[1, 2, 3, 4, 5, 6, 7]),
    (16, &[5, 1, 3, 7, 4, 6, 2, 8, 9]),
    (8, &[1, 4, 2, 5, 9, 6]),
    (8, &[1, 2, 3, 4, 5, 6, 7]),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// One `recv` must give exactly this.
    Recv(Vec<u8>),
}

/// What the client of one seat still does.
#[derive(Clone, Debug)]
pub(crate) struct Ancestor {
    pub(crate) plan: VecDeque<Step>,
}

/// Played, won and lost of both seats.
pub(crate) type Statistics = [[u64; 3]; 2];

/// How both stand after a game in which `winner` won.
pub(crate) fn count(statistics: &mut Statistics, winner: Option<DuelSeat>) {
    for seat in DuelSeat::BOTH {
        let own = &mut statistics[seat.index()];
        own[0] += 1;
        own[1] += u64::from(winner == Some(seat));
        own[2] += u64::from(winner == Some(seat.other()));
    }
}

impl Ancestor {
    /// The client of a seat that has greeted.
    pub(crate) fn new(seat: DuelSeat) -> Self {
        let start = if seat == DuelSeat::First { 1 } else { 2 };
        let mut plan = VecDeque::from([Step::Recv(vec![start])]);
        let (mut mover, mut statistics) = (DuelSeat::First, Statistics::default());
        for (last, cells) in GAMES {
            for (number, &cell) in cells.iter().enumerate() {
                let claim = if number + 1 == cells.len() { last } else { 4 };
                plan.push_back(if mover == seat {
                    Step::Send(vec![claim, cell])
                } else {
                    Step::Recv(vec![cell])
                });
                mover = mover.other();
            }
            count(&mut statistics, (last == 8).then_some(mover.other()));
            plan.push_back(Step::Send(b"d".to_vec()));
            let [played, won, lost] = statistics[seat.index()];
            plan.push_back(Step::Recv(format!("{played}:{won}:{lost}:").into_bytes()));
        }
        Self { plan }
    }

    /// Takes what one `recv` gave.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        assert_eq!(self.plan.pop_front(), Some(Step::Recv(bytes.to_vec())));
    }

    /// Sends all that it sends before it reads again.
    pub(crate) fn send(&mut self, out: &mut Vec<u8>) {
        while let Some(Step::Send(bytes)) = self.plan.front() {
            out.extend_from_slice(bytes);
            self.plan.pop_front();
        }
    }

    pub(crate) fn is_through(&self) -> bool {
        self.plan.is_empty()
    }
}
