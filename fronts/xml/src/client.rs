//! The other side: requests as bytes, and answers read.

mod outgoing;
mod replies;

pub use outgoing::Outgoing;
pub use replies::{GarbledReply, Part, Replies, Reply, ReplyKind, frame};
