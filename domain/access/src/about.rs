//! What a request says that it is about.

/// What a request is about. Who may do what is for administrators, who have no limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    All,
    /// Nothing but the caller.
    Caller,
}
