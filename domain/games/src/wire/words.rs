//! What commands and outcomes are made of, and what everything else is made of.

use turnstile_chassis::{Wire, fields, kinds};
use turnstile_types::{Malformed, Reader};

use crate::{
    Board, Claim, Command, Deed, Done, Ending, Game, Glicko, Illegal, MatchId, MatchResult,
    MatchView, Parcel, PlayerId, Ratings, Refusal, Roles, Seat, Settings, Standing, Tally,
    TicketView, Verdict, WaitReason, rules::Cells,
};

impl Wire for PlayerId {
    fn put(&self, out: &mut Vec<u8>) {
        let text = self.as_bytes();
        out.push(u8::try_from(text.len()).expect("at most 31 bytes"));
        out.extend_from_slice(text);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let field = "player";
        let length = reader.u8(field)?;
        let text = reader.take(usize::from(length), field)?;
        Self::parse(text).map_err(|_invalid| Malformed { field })
    }
}

impl Wire for MatchId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::read(reader).map(Self)
    }
}

impl Wire for Cells {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|word| word.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut words = [0; 4];
        for word in &mut words {
            *word = u64::read(reader)?;
        }
        Ok(Self(words))
    }
}

fields!(Board { stones });
fields!(Tally { won, lost, drawn });
fields!(Glicko {
    rating,
    deviation,
    volatility
});
fields!(Ratings { elo_milli, glicko });
fields!(Standing { tally, ratings });
fields!(Roles { arena, scores });
fields!(Settings {
    roles,
    arena,
    move_ms,
    grace_ms,
    claim_ms
});
fields!(MatchResult {
    match_id,
    game,
    players,
    verdict
});
fields!(Parcel {
    arena,
    number,
    result
});
fields!(MatchView {
    id,
    game,
    players,
    board,
    ply,
    seq,
    last,
    offer,
    away,
    moved_at,
    ending
});
fields!(TicketView {
    player,
    game,
    rating,
    since,
    window,
    widens_at,
    reason
});

kinds!(Game {
    0x01 TicTacToe,
    0x02 ConnectFour,
    0x03 Gomoku,
});

kinds!(Seat {
    0x01 First,
    0x02 Second,
});

kinds!(Verdict {
    0x01 FirstWon,
    0x02 SecondWon,
    0x03 Drawn,
});

kinds!(Claim {
    0x01 Ordinary,
    0x02 Wins,
    0x03 Fills,
});

kinds!(Ending {
    0x01 Line { winner },
    0x02 Resigned { winner },
    0x03 Claimed { winner },
    0x04 TimedOut { winner },
    0x05 Left { winner },
    0x06 Full,
    0x07 Agreed,
    0x08 Aborted,
});

kinds!(WaitReason {
    0x01 Alone,
    0x02 TooFarApart { difference, matched_at },
});

kinds!(Illegal {
    0x01 NoSuchCell,
    0x02 Taken,
});

kinds!(Deed {
    0x01 Move { ply, choice, claim },
    0x02 Resign,
    0x03 Abort,
    0x04 OfferDraw,
    0x05 AcceptDraw,
    0x06 DeclineDraw,
    0x07 ClaimWin,
});

kinds!(Command {
    0x01 Challenge { player, opponent, game },
    0x02 Seek { player, game },
    0x03 Withdraw { player },
    0x04 Begin { game, players },
    0x05 Act { match_id, player, deed },
    0x10 Connect { player },
    0x11 Disconnect { player },
    0x12 Restarted,
    0x20 Configure(settings),
    0x21 Acknowledge { number, standings },
    0x22 Deliver(parcel),
    0x23 Report { players, verdict },
});

kinds!(Done {
    0x01 Challenged,
    0x02 Seeking(ticket),
    0x03 Withdrawn,
    0x04 Begun(state),
    0x05 Acted(state),
    0x10 Connected(state),
    0x11 Disconnected,
    0x12 Restarted,
    0x20 Configured,
    0x21 Acknowledged,
    0x22 Counted(standings),
});

kinds!(Refusal {
    0x80 NotHere,
    0x81 UnsoundSettings,
    0x82 Full { limit },
    0x83 ScoresAway,
    0x90 SamePlayer,
    0x91 Playing { player, match_id },
    0x92 Waiting { player },
    0x93 NotWaiting,
    0xa0 NoSuchMatch,
    0xa1 NotSeated,
    0xa2 Over(state),
    0xa3 Stale(state),
    0xa4 NotYourTurn(state),
    0xa5 IllegalMove(illegal),
    0xa6 FalseClaim,
    0xa7 NoOffer,
    0xa8 OfferStands,
    0xa9 TooLate,
    0xaa NothingToClaim,
    0xab TooEarly { until },
    0xb0 OutOfOrder { expected },
});
