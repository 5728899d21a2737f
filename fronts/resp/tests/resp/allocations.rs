//! Reading and answering an order, a cancellation or a move allocates nothing, once the output has
//! its size.

use turnstile_exchange::{
    Cash, Decimal, Done, EndReason, OrderId, Outcome, Refusal, Ticket, TicketState,
};
use turnstile_games::{Game, MatchId, MatchView, PlayerId, Seat, play};
use turnstile_resp::{
    Decoded, Decoder, Encoder, Protocol,
    catalogue::{Action, Catalogue},
    exchange, games,
};
use turnstile_trial::{Counting, Tally};
use turnstile_types::{Position, Timestamp};

#[global_allocator]
static COUNTING: Counting = Counting;

const REQUESTS: [&str; 4] = [
    "EXCHANGE.PLACE-ORDER ada ACME BUY 10 9.5 KEY k-1\n",
    "EXCHANGE.PLACE-ORDER ada ACME SELL 0.25 MARKET FOK SELF_TRADE skip CLIENT_ID c-1\n",
    "EXCHANGE.PLACE-ORDER ada ACME SELL 1 2 UNTIL 2026-12-24T10:04:05Z\n",
    "EXCHANGE.CANCEL-ORDER ada id:c-1\n",
];

fn outcomes() -> [Outcome; 3] {
    let number = |units| Decimal::new(units, 2);
    let ticket = Ticket {
        order: OrderId(7),
        state: TicketState::Ended(EndReason::Immediate),
        filled: number(125),
        value: Cash(12_500_000_000),
        open: Decimal::ZERO,
    };
    let (order, quantity) = (OrderId(7), number(5));
    let (needed, free) = (Cash(3), Cash(2));
    [
        Outcome::Done(Done::Accepted {
            ticket,
            again: true,
        }),
        Outcome::Done(Done::Cancelled { order, quantity }),
        Outcome::Refused(Refusal::InsufficientFunds { needed, free }),
    ]
}

/// Reads every request and writes every outcome in both protocols; counts the requests read.
fn rush(catalogue: &Catalogue, decoder: &mut Decoder, out: &mut Vec<u8>) -> usize {
    out.clear();
    let mut read = 0;
    for line in REQUESTS {
        let Ok(Decoded::Request { arguments, .. }) = decoder.decode(line.as_bytes()) else {
            panic!("{line} is a whole line");
        };
        let Ok(Action::Exchange(call)) = catalogue.resolve(&arguments) else {
            panic!("{line} is a request to the exchange");
        };
        let request = exchange::parse(call, arguments);
        read += usize::from(matches!(request, Ok(exchange::Request::Command { .. })));
    }
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        for outcome in outcomes() {
            let mut reply = Encoder::new(out, protocol);
            exchange::put_outcome(&mut reply, &outcome, Position(42), true);
        }
    }
    read
}

#[test]
fn an_order_is_read_and_answered_without_an_allocation() {
    let (catalogue, mut decoder, mut out) = (Catalogue::new(), Decoder::new(), Vec::new());
    rush(&catalogue, &mut decoder, &mut out);
    let before = Tally::now();
    let read = rush(&catalogue, &mut decoder, &mut out);
    assert_eq!(
        (read, Tally::now().calls_since(before)),
        (REQUESTS.len(), 0)
    );
    drop(Box::new(1));
    assert_eq!(
        Tally::now().calls_since(before),
        1,
        "allocations are counted"
    );
}

const MOVES: [&str; 4] = [
    "GAMES.BEGIN ada bob gomoku\n",
    "GAMES.MOVE 7 ada 0 113\n",
    "GAMES.MOVE 7 bob 1 114 CLAIM ordinary KEY m-1\n",
    "GAMES.OFFER-DRAW 7 ada\n",
];

/// What was begun, and what was done in it.
fn games_outcomes() -> [turnstile_games::Outcome; 2] {
    let players = [&b"ada"[..], b"bob"].map(|name| PlayerId::parse(name).expect("a name"));
    let begun = MatchView::begun(MatchId(7), Game::Gomoku, players, Timestamp(0));
    let played = play(begun.game, &begun.board, Seat::First, 113).expect("a free cell");
    let moved = MatchView {
        board: played.board,
        ply: 1,
        seq: 1,
        last: Some(played.cell),
        ..begun
    };
    [
        turnstile_games::Done::Begun(begun),
        turnstile_games::Done::Acted(moved),
    ]
    .map(turnstile_games::Outcome::Done)
}

/// Reads every request and writes every outcome in both protocols; counts the requests read.
fn rush_of_moves(catalogue: &Catalogue, decoder: &mut Decoder, out: &mut Vec<u8>) -> usize {
    out.clear();
    let mut read = 0;
    for line in MOVES {
        let Ok(Decoded::Request { arguments, .. }) = decoder.decode(line.as_bytes()) else {
            panic!("{line} is a whole line");
        };
        let Ok(Action::Games(call)) = catalogue.resolve(&arguments) else {
            panic!("{line} is a request to games");
        };
        let request = games::parse(call, arguments);
        read += usize::from(matches!(request, Ok(games::Request::Command { .. })));
    }
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        for outcome in games_outcomes() {
            let mut reply = Encoder::new(out, protocol);
            games::put_outcome(&mut reply, &outcome, Position(42), true);
        }
    }
    read
}

#[test]
fn a_move_is_read_and_answered_without_an_allocation() {
    let (catalogue, mut decoder, mut out) = (Catalogue::new(), Decoder::new(), Vec::new());
    rush_of_moves(&catalogue, &mut decoder, &mut out);
    let before = Tally::now();
    let read = rush_of_moves(&catalogue, &mut decoder, &mut out);
    assert_eq!((read, Tally::now().calls_since(before)), (MOVES.len(), 0));
}
