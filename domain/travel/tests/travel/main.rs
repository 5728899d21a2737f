//! The machine from outside: scenarios as stories, histories of one process and of five with a
//! bad network between them, the protocol as a model, bytes, and what a transaction weighs.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod contention;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod promises;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod scenery;
#[cfg(test)]
mod subjects;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod weight;
