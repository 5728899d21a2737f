//! What a reload of the configuration answers.

use turnstile_chassis::Fields;

use crate::schema::Schemas;

/// What a reload has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Fields)]
pub struct ReloadDone {
    /// The settings that have changed, such as `log.level`.
    pub changed: Vec<Box<str>>,
    /// Whether new connections get another certificate or other authorities.
    pub certificate: bool,
}

pub(crate) fn schemas() -> Schemas {
    Schemas::new("Access").named::<ReloadDone>("ReloadDone", "What a reload has changed.")
}
