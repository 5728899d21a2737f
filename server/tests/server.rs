//! The RESP door over real sockets.

mod server {
    pub mod client;
    mod conversation;
    mod endings;
    mod hostile;
}
