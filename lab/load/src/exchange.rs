//! The exchange workload: traders who send and cancel orders, and the proof that no cent and no
//! share appeared or vanished.

mod answer;
mod books;
pub mod check;
mod flow;
mod market;
mod proof;
mod statuses;
mod trader;
mod wire;
mod workload;

use std::sync::Arc;

use turnstile_client::ServerAddress;
use turnstile_result::{Point, Server};

pub use market::RunMarket;
pub use proof::Proof;
pub use workload::TradingLoad;

pub(crate) use books::{AccountBooks, Balance, CENTS, WHOLE};
pub(crate) use trader::{Trader, checked};
pub(crate) use wire::put_number;

use crate::{
    Error, LoadReport,
    again::Keyed,
    door,
    pace::{self, Pace, Progress, Totals},
    point,
};

/// The most symbols of a run: each account gets shares of each.
const SYMBOLS_MAX: usize = 1_000;

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Resp,
    Xml,
}

/// What to drive, and how hard.
#[derive(Clone, Debug)]
pub struct Config {
    pub door: Door,
    /// How that door is driven. Nobody else may trade in the run's symbols, which are made for it.
    /// Same seed, same server state, same answers: the same bytes are sent.
    pub pace: Pace,
    /// The RESP door of the same server, for the proof; over RESP it is the address itself. Without
    /// it, nothing is proven but by the status of each order.
    pub proof: Option<ServerAddress>,
    /// Traders; each has a connection of its own.
    pub users: usize,
    pub symbols: usize,
    /// Each trader connects, sends one order, waits for the answer and goes; so many are there at
    /// a time. The run ends when all have been there, or when the window is over.
    pub one_shot: Option<usize>,
}

/// What a run gave. There is no server where only XML is spoken, which does not tell.
pub type Report = LoadReport<Proof>;

/// A run whose load is over, and whose proof is not done yet.
#[derive(Debug)]
pub struct Driven {
    /// None where only XML is spoken.
    server: Option<Server>,
    before: Option<proof::TradeCounters>,
    market: Arc<RunMarket>,
    totals: Totals<Keyed<Trader<false>>>,
}

/// Makes accounts and symbols, runs traders against the server, then proves that everything that
/// was put in is still there.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not do what is needed.
/// What the server did wrong is in the report's proof.
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    drive(config, progress)?.prove(config)
}

/// The first part of [`run`]: everything but the proof.
///
/// # Errors
/// As of [`run`].
pub fn drive(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Driven, Error> {
    config.check()?;
    let witness = config.witness();
    let before = witness.map(proof::TradeCounters::ask).transpose()?;
    let server = witness
        .map(|address| door::facts(&mut door::connect(address)?, "exchange")?.server())
        .transpose()?;
    let market = Arc::new(RunMarket::open(config)?);
    let mut traders = trader::traders(config, &market);
    let totals = match config.one_shot {
        None => pace::run(&config.pace, traders, progress)?,
        Some(at_once) => {
            traders
                .iter_mut()
                .for_each(|trader| trader.user.asks_once());
            pace::run_in_turn(&config.pace, traders, at_once, progress)?
        }
    };
    Ok(Driven {
        server,
        before,
        market,
        totals,
    })
}

impl Driven {
    /// The second part of [`run`]. `config` may name other addresses than the load had: those of a
    /// server that was killed and started again on the same data.
    ///
    /// # Errors
    /// As of [`run`].
    pub fn prove(self, config: &Config) -> Result<Report, Error> {
        let (market, totals) = (&self.market, &self.totals);
        let proof = proof::prove(config, market, self.before.as_ref(), totals)?;
        Ok(Report {
            server: self.server,
            point: config.point(totals, &proof),
            proof,
        })
    }
}

impl Config {
    fn check(&self) -> Result<(), Error> {
        if self.symbols == 0 || self.symbols > SYMBOLS_MAX {
            return Err(Error::Setting("there are 1 to 1,000 symbols"));
        }
        Ok(())
    }

    /// Makes the accounts and symbols of a run.
    pub(crate) fn open_market(&self) -> Result<RunMarket, Error> {
        self.check()?;
        RunMarket::open(self)
    }

    fn point(&self, totals: &Totals<Keyed<Trader<false>>>, proof: &Proof) -> Point {
        let mut point = point::point("exchange", &self.pace, totals, vec![proof.rule()]);
        if let Some(at_once) = self.one_shot {
            let at_once = u64::try_from(at_once).expect("users are at most 50,000");
            point::count(&mut point, totals.took, at_once, totals.slots);
        }
        point
    }

    /// Where the books can be looked into.
    fn witness(&self) -> Option<&ServerAddress> {
        match self.door {
            Door::Resp => Some(&self.pace.address),
            Door::Xml => self.proof.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    pub(super) fn config(door: Door) -> Config {
        Config {
            door,
            pace: Pace::closed(
                std::net::SocketAddr::from(([127, 0, 0, 1], 1)),
                Duration::ZERO,
                Duration::from_millis(1),
            ),
            proof: None,
            users: 2,
            symbols: 2,
            one_shot: None,
        }
    }

    #[test]
    fn a_run_has_symbols() {
        let mut config = config(Door::Resp);
        for symbols in [0, SYMBOLS_MAX + 1] {
            config.symbols = symbols;
            let error = run(&config, &mut |_progress| {}).unwrap_err();
            assert!(matches!(error, Error::Setting(_)), "{error}");
        }
    }
}
