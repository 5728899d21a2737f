//! `turnstile exchange replay`: a day of a market, message by message.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use turnstile_stats::{
    throughput,
    units::{Count, PerSecond},
};

use super::{
    lobster::{Level, Message},
    market::{Odd, ReplayedMarket, Tally},
    page,
};
use crate::terminal::{self, Table};

/// How many odd messages are told one by one; the rest are counted.
const TOLD_MAX: u64 = 20;

/// The longest line that can be a message, with room to spare: nobody's memory holds a file
/// without line ends.
const LINE_BYTES_MAX: u64 = 1024;

/// The longest row of an orderbook file: a thousand levels.
const ROW_BYTES_MAX: u64 = 128 * 1024;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// LOBSTER message file: time, type, order id, size, price, direction
    file: PathBuf,
    /// Start with the book in the first row of this LOBSTER orderbook file, which shows the book
    /// after the first message. Deeper levels stay unknown
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Print this many levels of each side after each message, in LOBSTER's orderbook format, 1 to
    /// 1000
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_000), conflicts_with_all = ["trades", "top"])]
    levels: Option<u16>,
    /// Print each trade
    #[arg(long)]
    trades: bool,
    /// Print the best bid and ask after each message
    #[arg(long)]
    top: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let begun = Instant::now();
    let mut out = BufWriter::new(io::stdout().lock());
    let tally = match replay(arguments, &mut out) {
        Ok(tally) => tally,
        // Whoever reads has read enough.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        Err(error) => {
            out.flush()?;
            return Err(error);
        }
    };
    let took = begun.elapsed();
    terminal::note(table(&tally));
    let messages = tally.messages();
    terminal::note(format_args!(
        "{} messages in {took:.1?}, {} messages/s",
        Count(messages),
        PerSecond(throughput(messages, took))
    ));
    Ok(())
}

fn replay(arguments: &Arguments, out: &mut impl Write) -> anyhow::Result<Tally> {
    let shown = || arguments.file.display().to_string();
    let mut file = BufReader::new(File::open(&arguments.file).with_context(shown)?);
    let mut market = ReplayedMarket::default();
    let mut told = Told::default();
    let mut opening = arguments.book.as_deref().map(opening).transpose()?;
    let mut bytes = Vec::new();
    for line in 1_u64.. {
        bytes.clear();
        let mut limited = io::Read::take(&mut file, LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut bytes).with_context(shown)?;
        if read == 0 {
            break;
        }
        let text = bytes.trim_ascii_end();
        if text.is_empty() {
            continue;
        }
        let message = Message::parse(text)
            .map_err(|bad| anyhow!("{}:{line}:{bad}", arguments.file.display()))?;
        if let Some(levels) = opening.take() {
            let before = message.event.undone(levels).ok_or_else(|| {
                anyhow!(
                    "the first row of --book does not show what the first message of {} says",
                    shown()
                )
            })?;
            market.open(&before);
        }
        let applied = market.apply(&message.event);
        if let Some(odd) = applied.odd {
            told.tell(&arguments.file, line, odd);
        }
        if let Some(trade) = applied.trade.filter(|_| arguments.trades) {
            page::put_trade(out, message.time, &trade)?;
        }
        if arguments.top {
            page::put_top(out, &message, &market)?;
        }
        if let Some(levels) = arguments.levels {
            page::put_levels(out, levels, &market)?;
        }
    }
    out.flush()?;
    Ok(market.tally)
}

/// The levels of the first row of an orderbook file.
fn opening(path: &Path) -> anyhow::Result<Vec<Level>> {
    let shown = || path.display().to_string();
    let mut row = String::new();
    let file = File::open(path).with_context(shown)?;
    let mut file = BufReader::new(io::Read::take(file, ROW_BYTES_MAX));
    file.read_line(&mut row).with_context(shown)?;
    Level::parse_row(row.trim_ascii()).map_err(|bad| anyhow!("{}:1:{bad}", path.display()))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Says what is odd about the first odd messages.
#[derive(Debug, Default)]
struct Told(u64);

impl Told {
    fn tell(&mut self, file: &Path, line: u64, odd: Odd) {
        self.0 += 1;
        if self.0 <= TOLD_MAX {
            terminal::note(format_args!("{}:{line}: {odd}", file.display()));
        } else if self.0 == TOLD_MAX + 1 {
            terminal::note("more odd messages are only counted");
        }
    }
}

fn table(tally: &Tally) -> Table {
    let mut table = Table::default();
    for (label, count) in [
        ("new orders", tally.new),
        ("partly cancelled", tally.reduced),
        ("deleted", tally.deleted),
        ("executed", tally.executed),
        ("executed, hidden", tally.executed_hidden),
        ("auctions, left out", tally.crosses),
        ("halts, left out", tally.halts),
    ] {
        table.row(label, Count(count));
    }
    for (odd, &count) in &tally.odd {
        table.row(format!("  {odd}"), Count(count));
    }
    table
}
