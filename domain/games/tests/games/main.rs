//! The machine from outside: scenarios as stories, histories beside a naive twin, boards beside
//! naive rules, ratings beside a library, two processes with a bad line between them, bytes,
//! snapshots, and what a move costs.

#[cfg(test)]
mod allocations;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod ratings;
#[cfg(test)]
mod recount;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod scenery;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod subjects;
#[cfg(test)]
mod twin;
