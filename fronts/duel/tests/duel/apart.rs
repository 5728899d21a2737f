//! A pair on two connections that different servers have: each hears one seat, and overhears the other.

use turnstile_duel::{Duel, DuelSeat, Heard, Standing, Triple};

use crate::ancestor::GAMES;

fn triple() -> Triple {
    Triple::new(1, 0, 0).unwrap()
}

/// What each seat is sent by its own server.
fn told(duels: &mut [Duel; 2]) -> [Vec<u8>; 2] {
    let mut told = [Vec::new(), Vec::new()];
    for (seat, duel) in DuelSeat::BOTH.into_iter().zip(duels) {
        while let Some((to, parcel)) = duel.next_parcel() {
            if to == seat {
                told[seat.index()].extend_from_slice(parcel.message());
            }
        }
    }
    told
}

#[test]
fn each_seat_is_told_what_it_is_told_at_one_server() {
    let mut duels = [Duel::default(), Duel::default()];
    assert_eq!(told(&mut duels), [vec![1], vec![2]]);
    let mut mover = DuelSeat::First;
    for (last, cells) in GAMES {
        for (number, &cell) in cells.iter().enumerate() {
            let is_last = number + 1 == cells.len();
            let here = &mut duels[mover.index()];
            let claim = if is_last { last } else { 4 };
            let heard = here.hear(mover, &[claim, cell]).unwrap();
            let Some((Heard::Move(play), 2)) = heard else {
                panic!("{heard:?}")
            };
            assert!(here.is_deciding());
            assert!(!here.overhear(mover, play.cell), "it is heard already");
            let there = &mut duels[mover.other().index()];
            assert!(!there.overhear(mover.other(), play.cell), "not its turn");
            assert!(there.overhear(mover, play.cell));
            for duel in &mut duels {
                if is_last {
                    duel.accept_last();
                } else {
                    duel.accept();
                }
            }
            let told = told(&mut duels);
            assert_eq!(told[mover.index()], Vec::<u8>::new());
            assert_eq!(told[mover.other().index()], [cell]);
            mover = mover.other();
        }
        for seat in DuelSeat::BOTH {
            let duel = &mut duels[seat.index()];
            assert_eq!(duel.standing(), Standing::Decided);
            duel.overhear_done(seat.other());
            assert!(!duel.awaits_triples());
            assert_eq!(duel.hear(seat, b"d").unwrap(), Some((Heard::Done, 1)));
            assert!(duel.awaits_triples());
            duel.tell(triple(), triple());
        }
        assert_eq!(told(&mut duels), [b"1:0:0:".to_vec(), b"1:0:0:".to_vec()]);
    }
}
