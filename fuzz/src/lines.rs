//! Travel in command lines: any bytes are refused, wanting, or commands, wherever they are cut; and
//! the machine takes every command that is read.

use turnstile_lines::{
    Ask, LineScan, Lines, Options, put_exception, put_help, put_itinerary, put_outcome, read,
};
use turnstile_travel::{Answer, Outcome, Query, Travel};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// Reads `bytes` as a stream, at once and in pieces whose size the first byte chooses.
pub fn run(bytes: &[u8]) {
    let Some((&piece, rest)) = bytes.split_first() else {
        return;
    };
    let whole = serve(rest, rest.len().max(1));
    assert_eq!(whole, serve(rest, usize::from(piece).max(1)));
    let text = str::from_utf8(&whole).expect("every answer is UTF-8");
    let is_told = |character: char| character == '\n' || !character.is_control();
    assert!(text.chars().all(is_told), "{text:?}");
}

/// The answers to a stream that comes in pieces. Whoever would wait is not waited for.
fn serve(stream: &[u8], piece: usize) -> Vec<u8> {
    let (mut travel, principal) = (Travel::empty(), Principal::local());
    let mut lines = Lines::default();
    let (mut out, mut start, mut end, mut position) = (Vec::new(), 0, 0, 0);
    loop {
        match lines.next(&stream[start..end]) {
            LineScan::Incomplete { skipped } => {
                start += skipped;
                if end == stream.len() {
                    return out;
                }
                end = (end + piece).min(stream.len());
            }
            LineScan::TooLong { consumed } => {
                put_exception(&mut out, turnstile_lines::Invalid::TooLong);
                start += consumed;
            }
            LineScan::Line { line, consumed } => {
                position += 1;
                let context = Context {
                    position: Position(position),
                    now: Timestamp(1_798_761_600_000),
                    principal: &principal,
                };
                answer(&mut travel, &context, &stream[start..][line], &mut out);
                start += consumed;
            }
        }
    }
}

fn answer(travel: &mut Travel, context: &Context<'_>, line: &[u8], out: &mut Vec<u8>) {
    match read(line) {
        Err(why) => put_exception(out, why),
        Ok(Ask::Help(verb)) => put_help(out, verb),
        Ok(Ask::Command { command, wording }) => match travel.apply(context, &command) {
            Outcome::Waiting { .. } => {}
            outcome => put_outcome(out, Options { bill_total: true }, wording, &outcome),
        },
        Ok(Ask::Itinerary(locator)) => {
            let query = Query::Itinerary { locator };
            if let Answer::Itinerary(view) = travel.query(context.now, context.principal, &query) {
                put_itinerary(out, view.as_ref());
            }
        }
        Ok(Ask::Nothing | Ask::Crash(_) | Ask::Shutdown | Ask::Quit) => {}
    }
}

#[test]
fn a_session_survives_every_cut() {
    let stream = "start\r\nAddFlight,1,7,2,100\n\nAddCustomerID,1,5\nbundle,1,5,7,7,oslo,n,no\n\
                  QueryCustomer,1,5\nsummary,1\nCommit,1\nCommit,1\nBook,5,7,oslo,n,n\n\
                  Itinerary,AB6X5T\nItinerary,ZZZZZZ\nx\u{e4},\u{1},\nHelp,Quit\nQu";
    for piece in 1..=255_u8 {
        run(&[&[piece], stream.as_bytes()].concat());
    }
    let answer = String::from_utf8(serve(stream.as_bytes(), 3)).expect("it is UTF-8");
    let expected = "Transaction 1 started\nFlight added\nAdd customer ID: 5\nBundle Reserved\n\
                    Bill for customer 5\n2 flight-7 $100\nTotal $200\n\n\
                    Bill for customer 5\n2 flight-7 $100\nTotal $200\n\n\
                    Transaction 1 committed\nInvalidTransaction: transaction 1 is committed\n\
                    Itinerary could not be booked: flight-7 is sold out\n\n\n\
                    Command exception: there is no command \"x\u{e4}\", Help lists them\n\
                    Quit: no arguments\n";
    assert_eq!(answer, expected);
}
