//! The machine from outside: scenarios as stories, random histories against a naive twin, bytes,
//! and what an order allocates.

#[cfg(test)]
mod allocations;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod paging;
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
