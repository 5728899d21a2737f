//! Two of the ancestor's clients, their systems, and our arena between them.

use turnstile_duel::{Claim, Duel, DuelSeat, Heard, Triple};

use crate::{
    ancestor::{Ancestor, Statistics, count},
    kernel::Inbox,
};

pub(crate) struct Table {
    pub(crate) duel: Duel,
    pub(crate) clients: [Ancestor; 2],
    pub(crate) inboxes: [Inbox; 2],
    /// What clients have sent and the arena has not read.
    pub(crate) sent: [Vec<u8>; 2],
    /// What the arena has read and not consumed.
    unread: [Vec<u8>; 2],
    last: Claim,
    statistics: Statistics,
}

impl Table {
    pub(crate) fn new() -> Self {
        let mut table = Self {
            duel: Duel::default(),
            clients: DuelSeat::BOTH.map(Ancestor::new),
            inboxes: Default::default(),
            sent: Default::default(),
            unread: Default::default(),
            last: Claim::Ordinary,
            statistics: Statistics::default(),
        };
        table.push();
        table
    }

    /// The client reads, if there is something to be read, and goes on until it must read again.
    pub(crate) fn read(&mut self, seat: DuelSeat) {
        let (client, inbox) = (
            &mut self.clients[seat.index()],
            &mut self.inboxes[seat.index()],
        );
        if inbox.is_readable() {
            client.read(&inbox.recv());
            client.send(&mut self.sent[seat.index()]);
        }
    }

    /// The arena reads so many bytes of a seat and does what there is to do.
    pub(crate) fn serve(&mut self, seat: DuelSeat, bytes: usize) {
        let sent = &mut self.sent[seat.index()];
        let bytes = bytes.min(sent.len());
        self.unread[seat.index()].extend(sent.drain(..bytes));
        for seat in DuelSeat::BOTH {
            self.hear(seat);
        }
        self.push();
    }

    /// Everybody goes on, until nobody can.
    pub(crate) fn settle(&mut self) {
        for _turn in 0..500 {
            for seat in DuelSeat::BOTH {
                self.read(seat);
                self.serve(seat, usize::MAX);
            }
        }
    }

    pub(crate) fn is_through(&self) -> bool {
        self.clients.iter().all(Ancestor::is_through)
            && self.inboxes.iter().all(|inbox| !inbox.is_readable())
    }

    fn hear(&mut self, seat: DuelSeat) {
        loop {
            let unread = &self.unread[seat.index()];
            let Some((heard, length)) = self.duel.hear(seat, unread).unwrap() else {
                return;
            };
            self.unread[seat.index()].drain(..length);
            match heard {
                Heard::Move(play) if play.claim == Claim::Ordinary => {
                    // The client may be ahead with what the decision lets it say.
                    let ahead = self.duel.hear(seat, b"d");
                    assert_eq!(ahead, Ok(None));
                    self.duel.accept();
                }
                Heard::Move(play) => {
                    self.duel.accept_last();
                    self.last = play.claim;
                }
                Heard::Done if self.duel.awaits_triples() => self.tell(),
                Heard::Done => {}
            }
        }
    }

    fn tell(&mut self) {
        let winner = (self.last == Claim::Wins).then_some(self.duel.turn().other());
        count(&mut self.statistics, winner);
        let [first, second] = self
            .statistics
            .map(|[played, won, lost]| Triple::new(played, won, lost).unwrap());
        self.duel.tell(first, second);
    }

    /// Sends what may be sent.
    fn push(&mut self) {
        while let Some((to, parcel)) = self.duel.next_parcel() {
            self.inboxes[to.index()].put(&parcel);
        }
    }
}
