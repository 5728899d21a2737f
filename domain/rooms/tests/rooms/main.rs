//! The machine from outside: scenarios as stories, random histories against a naive twin, bytes,
//! and what a booking allocates.

#[cfg(test)]
mod allocations;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod large;
#[cfg(test)]
mod pieces;
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
