//! The machine from outside: scenarios as stories, random histories against a naive twin, what
//! rights permit, who is authenticated, bytes and snapshots.

#[cfg(test)]
mod authentication;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod lies;
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
#[cfg(test)]
mod twin;
