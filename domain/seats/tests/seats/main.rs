//! The machine from outside: scenarios as stories, random histories against a naive twin, bytes and
//! snapshots.

#[cfg(test)]
mod bytes;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod limits;
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
