//! The RESP door over real sockets.

#[cfg(test)]
mod server {
    pub(crate) mod client;
    mod conversation;
    mod endings;
    mod hostile;
    mod overlap;
}
