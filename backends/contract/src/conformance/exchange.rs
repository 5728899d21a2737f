//! The suite that holds a back end of the exchange to the machine itself.
//!
//! As for rooms, histories and crowds go through the back end and through the machine. Numbers of
//! orders and positions are the back end's own; everything else must be equal, to the last unit of
//! cash. What is due expires in the machine at its very instant, as a server does it.

mod crowd;
mod draw;
mod history;
mod keys;
mod oracle;

pub use self::{
    crowd::{check_crowds, check_disturbed},
    history::check_histories,
    keys::check_keys_in_a_crowd,
};
