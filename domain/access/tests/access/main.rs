//! The machine from outside: scenarios as stories, what rights permit, who is authenticated, bytes and
//! snapshots.

#[cfg(test)]
mod authentication;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod scenery;
#[cfg(test)]
mod snapshots;
