//! How long an order takes through the codec: frames, items, and what is answered, with nothing
//! in between. `cargo run --release -p turnstile-xml --example orders`

use std::{hint::black_box, io::Write, time::Instant};

use turnstile_exchange::{
    AccountId, Cash, Command, Decimal, Done, OrderId, Outcome, Side, Symbol, Ticket, TicketState,
};
use turnstile_xml::{Answers, Ask, Framed, Options, Requests, client::Outgoing, frame};

const ORDERS: u32 = 100_000;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for in_one in [1, 16, 100, 10_000] {
        let stream = stream(in_one);
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let begun = Instant::now();
            black_box(serve(black_box(&stream)));
            best = best.min(begun.elapsed().as_secs_f64());
        }
        let ns = best * 1e9 / f64::from(ORDERS);
        let bytes = stream.len() / usize::try_from(ORDERS).expect("a small number");
        writeln!(
            out,
            "{in_one:>6} in one request: {ns:>4.0} ns and {bytes} bytes an order"
        )?;
    }
    Ok(())
}

fn stream(in_one: u32) -> Vec<u8> {
    let account = AccountId::parse(b"1234567").expect("an account");
    let symbol = Symbol::parse(b"SPY").expect("a symbol");
    let mut stream = Vec::new();
    for _ in 0..ORDERS / in_one {
        let mut request = Outgoing::transactions(&mut stream, &account);
        for at in 0..in_one {
            let side = if at % 2 == 0 { Side::Buy } else { Side::Sell };
            let limit = Decimal::new(12_500 + u64::from(at % 100), 2);
            request.order(&symbol, side, Decimal::new(100, 0), limit);
        }
        request.finish();
    }
    stream
}

/// Answers every order as a machine would that lets all of them rest; returns the bytes answered.
fn serve(stream: &[u8]) -> usize {
    let options = Options::default();
    let mut requests = Requests::new(options);
    let (mut out, mut at, mut next, mut answered) = (Vec::new(), 0, 1, 0);
    while let Framed::Frame { xml, consumed } = frame(&stream[at..], options.frame_bytes_max) {
        let batch = requests
            .read(&stream[at..][xml])
            .expect("it is well-formed");
        let answers = Answers::begin(&mut out, &options);
        for item in batch.items() {
            let Ask::Command(Command::Order(order)) = item.ask else {
                continue;
            };
            let ticket = Ticket {
                order: OrderId(next),
                state: TicketState::Open,
                filled: Decimal::ZERO,
                value: Cash(0),
                open: black_box(order).quantity,
            };
            next += 1;
            let done = Done::Accepted {
                ticket,
                again: false,
            };
            answers.outcome(&mut out, &item.echo, &Outcome::Done(done));
        }
        answers.finish(&mut out);
        at += consumed;
        if out.len() > 1 << 16 {
            answered += out.len();
            out.clear();
        }
    }
    assert_eq!(at, stream.len(), "the stream was read to its end");
    answered + out.len()
}
