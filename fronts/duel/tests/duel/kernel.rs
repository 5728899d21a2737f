//! What a client's system keeps until the client reads it.

use turnstile_duel::Parcel;

/// The bytes of one direction of a connection, as TCP keeps them: nothing tells one send from the
/// next but the place of the urgent byte, of which there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    urgent: Option<usize>,
}

impl Inbox {
    pub(crate) fn put(&mut self, parcel: &Parcel) {
        self.bytes.extend_from_slice(parcel.bytes());
        if parcel.is_marked() {
            self.urgent = Some(self.bytes.len() - 1);
        }
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.bytes.len() > usize::from(self.urgent == Some(0))
    }

    /// One `recv` with room for everything: it ends at the urgent byte, or skips it where it begins
    /// with it.
    pub(crate) fn recv(&mut self) -> Vec<u8> {
        if self.urgent == Some(0) {
            self.bytes.remove(0);
            self.urgent = None;
        }
        let end = self.urgent.unwrap_or(self.bytes.len());
        self.urgent = self.urgent.map(|_| 0);
        self.bytes.drain(..end).collect()
    }
}
