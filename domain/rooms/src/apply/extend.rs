//! Extending a hold.

use turnstile_types::Context;

use super::hold::refuse_ttl;
use crate::{Done, EventKind, Reference, Refusal, Rooms, ledger::State, limits};

impl Rooms {
    /// The hold's end moves to `ttl_ms` from now, which may also be earlier than it was.
    pub(super) fn extend(
        &mut self,
        context: &Context<'_>,
        hold: Reference,
        ttl_ms: u32,
    ) -> Result<Done, Refusal> {
        let (slot, old, made) = self.open_hold(hold)?;
        refuse_ttl(ttl_ms)?;
        let until = context.now.plus_ms(u64::from(ttl_ms));
        let since = self.ledger.at(slot).since;
        let until_max = since.plus_ms(limits::HOLD_TOTAL_MS_MAX);
        if until > until_max {
            return Err(Refusal::HoldCeiling { until_max });
        }

        self.deadlines.remove(&(old, slot));
        self.deadlines.insert((until, slot));
        let entry = self.ledger.at_mut(slot);
        entry.state = State::Held { until, made };
        entry.position = context.position;
        self.tell(context, EventKind::Extended, slot);
        Ok(Done::Extended { until })
    }
}
