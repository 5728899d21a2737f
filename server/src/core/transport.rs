//! How clients of other machines reach a server: not at all, with TLS, or in clear.

/// How clients of other machines reach a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DoorTransport {
    /// Not at all: every address is of loopback, and in clear.
    #[default]
    Loopback,
    /// With TLS, as clients of this machine do.
    Tls,
    /// In clear.
    Plain,
}

impl DoorTransport {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Tls => "tls",
            Self::Plain => "plain",
        }
    }
}
