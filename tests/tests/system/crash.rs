//! Crashes of the real binary: killed under load, cut from power, out of disk, with a torn or
//! rotten directory. A recorder outside the process knows what was asked and what was answered.

pub(crate) mod answer;
pub(crate) mod books;
mod box_office;
mod crowd;
mod damage;
mod database;
mod directory;
mod floor;
mod full_disk;
pub(crate) mod hotel;
mod kill;
pub(crate) mod listing;
mod load;
mod ordeal;
mod power;
mod recorder;
pub(crate) mod request;
mod rush;
pub(crate) mod tape;
pub(crate) mod witness;
