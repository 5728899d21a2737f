//! A plan to ask for a room once.

use turnstile_check::rooms::Reference;

use super::Plan;
use crate::rooms::what::What;

/// One request, and no more.
#[derive(Debug)]
pub(crate) struct Once(pub(crate) Option<What>);

impl Plan for Once {
    const OPERATIONS: &'static [&'static str] = &["book"];

    fn choose(&mut self) -> Option<What> {
        self.0.take()
    }

    fn learn(&mut self, _what: &What, _reference: Option<Reference>) {}
}
