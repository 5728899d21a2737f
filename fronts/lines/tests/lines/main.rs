//! Lines and their answers, side by side, with the real machine behind them.

#[cfg(test)]
mod client;
#[cfg(test)]
mod cuts;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod session;
