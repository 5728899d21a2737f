//! Adding a property.

use turnstile_types::{Context, Name};

use crate::{Done, EventKind, Refusal, Rooms};

impl Rooms {
    pub(super) fn add_property(
        &mut self,
        context: &Context<'_>,
        name: Name,
        open: bool,
    ) -> Result<Done, Refusal> {
        if self.directory.property(&name).is_some() {
            return Err(Refusal::PropertyExists);
        }
        let property = self.directory.add_property(name, open);
        self.announce(context, EventKind::PropertyAdded, (property, None), None);
        Ok(Done::PropertyAdded)
    }
}
