//! Messages at the front of a connection's unread bytes. Everything answers nothing while a message
//! is not whole, and refuses it at its first wrong byte, so that no peer can make us keep more.

use crate::{
    BoardCell, Claim, Greeting, Move, Player, Refusal, Report, Triple, Verdict,
    limits::{COUNT_DIGITS_MAX, PLAYER_DIGITS_MAX},
};

/// What was read, and how many bytes it took.
pub(crate) type ScanResult<T> = Result<Option<(T, usize)>, Refusal>;

/// The byte before the numbers of a greeting; to the scores, the wish for the second triple.
pub(crate) const ONE: u8 = 1;

/// What a client says when its game is over.
pub(crate) const DONE: u8 = b'd';

/// Numbers with their colons, one after the other.
struct NumberScanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> NumberScanner<'a> {
    const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    fn next(&mut self, digits_max: usize) -> Result<Option<u64>, Refusal> {
        let (mut number, start) = (0_u64, self.at);
        while let Some(&byte) = self.bytes.get(self.at) {
            let digits = self.at - start;
            self.at += 1;
            match byte {
                b':' if digits > 0 => return Ok(Some(number)),
                b'0'..=b'9' if digits > 0 && number == 0 => return Err(Refusal::LeadingZero),
                b'0'..=b'9' if digits == digits_max => return Err(Refusal::TooLarge),
                b'0'..=b'9' => {
                    let ten_times = number.checked_mul(10).ok_or(Refusal::TooLarge)?;
                    let digit = u64::from(byte - b'0');
                    number = ten_times.checked_add(digit).ok_or(Refusal::TooLarge)?;
                }
                _ => return Err(Refusal::NoDigit { byte }),
            }
        }
        Ok(None)
    }

    fn player(&mut self) -> Result<Option<Player>, Refusal> {
        let number = self.next(PLAYER_DIGITS_MAX)?;
        let player = number.map(|number| u32::try_from(number).map(Player));
        player.transpose().map_err(|_too_large| Refusal::TooLarge)
    }

    fn count(&mut self) -> Result<Option<u64>, Refusal> {
        self.next(COUNT_DIGITS_MAX)
    }
}

pub(crate) fn greeting(bytes: &[u8]) -> ScanResult<Greeting> {
    match bytes.first() {
        None => return Ok(None),
        Some(&ONE) => {}
        Some(&byte) => return Err(Refusal::NoGreeting { byte }),
    }
    let mut numbers = NumberScanner::new(bytes, 1);
    let Some(own) = numbers.player()? else {
        return Ok(None);
    };
    let Some(opponent) = numbers.player()? else {
        return Ok(None);
    };
    if own == opponent {
        return Err(Refusal::OwnOpponent);
    }
    Ok(Some((Greeting { own, opponent }, numbers.at)))
}

pub(crate) fn play(bytes: &[u8]) -> ScanResult<Move> {
    let Some(&byte) = bytes.first() else {
        return Ok(None);
    };
    let claim = Claim::of(byte).ok_or(Refusal::NoClaim { byte })?;
    let Some((cell, _)) = cell(bytes.get(1..).unwrap_or_default())? else {
        return Ok(None);
    };
    Ok(Some((Move { claim, cell }, 2)))
}

pub(crate) fn cell(bytes: &[u8]) -> ScanResult<BoardCell> {
    let Some(&byte) = bytes.first() else {
        return Ok(None);
    };
    let cell = BoardCell::new(byte).ok_or(Refusal::NoCell { byte })?;
    Ok(Some((cell, 1)))
}

pub(crate) fn done(bytes: &[u8]) -> ScanResult<()> {
    match bytes.first() {
        None => Ok(None),
        Some(&DONE) => Ok(Some(((), 1))),
        Some(&byte) => Err(Refusal::NotDone { byte }),
    }
}

/// A result: its verdict, and two players, each with its colon.
pub(crate) fn report(bytes: &[u8]) -> ScanResult<Report> {
    let Some(&byte) = bytes.first() else {
        return Ok(None);
    };
    let verdict = Verdict::of(byte).ok_or(Refusal::NoVerdict { byte })?;
    match bytes.get(1) {
        None => return Ok(None),
        Some(b':') => {}
        Some(&byte) => return Err(Refusal::NoDigit { byte }),
    }
    let mut numbers = NumberScanner::new(bytes, 2);
    let Some(first) = numbers.player()? else {
        return Ok(None);
    };
    let Some(second) = numbers.player()? else {
        return Ok(None);
    };
    if first == second {
        return Err(Refusal::OwnOpponent);
    }
    let report = Report {
        verdict,
        first,
        second,
    };
    Ok(Some((report, numbers.at)))
}

pub(crate) fn triple(bytes: &[u8]) -> ScanResult<Triple> {
    let mut numbers = NumberScanner::new(bytes, 0);
    let mut counts = [0; 3];
    for count in &mut counts {
        match numbers.count()? {
            None => return Ok(None),
            Some(number) => *count = number,
        }
    }
    let [played, won, lost] = counts;
    let triple = Triple::new(played, won, lost).ok_or(Refusal::Impossible)?;
    Ok(Some((triple, numbers.at)))
}
