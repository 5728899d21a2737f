//! Holding a room.

use turnstile_types::{Context, Name, Principal, Stay};

use crate::{Done, EventKind, Refusal, Rooms, Wish, ledger::State, limits};

impl Rooms {
    pub(super) fn hold(
        &mut self,
        context: &Context<'_>,
        (property, wish, stay): (&Name, &Wish, Stay),
        ttl_ms: u32,
    ) -> Result<Done, Refusal> {
        let property = self
            .directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let choice = self.choice(property, wish)?;
        refuse_ttl(ttl_ms)?;
        self.refuse_too_many_holds(context)?;
        self.prepare_search(property, &choice, stay);
        let place = self.place(property, &choice, stay, &[])?;
        self.ledger.check_room()?;

        let room = self.settle(property, place);
        let until = context.now.plus_ms(u64::from(ttl_ms));
        let made = context.position;
        let slot = self.enter(context, room, stay, State::Held { until, made });
        let principal = self.ledger.at(slot).principal;
        self.principals.add_hold(principal, made, slot);
        self.deadlines.insert((until, slot));
        self.counts.held += 1;
        self.tell(context, EventKind::Held, slot);
        Ok(Done::Held {
            reference: self.ledger.reference(slot),
            room: self.directory.room_name(room),
            until,
        })
    }

    /// How many holds of a principal are open, as the last record left it.
    #[must_use]
    pub fn open_holds_of(&self, principal: &Principal) -> u32 {
        let number = self.principals.number(principal);
        number.map_or(0, |number| self.principals.holds_count(number))
    }

    fn refuse_too_many_holds(&self, context: &Context<'_>) -> Result<(), Refusal> {
        let open = self.open_holds_of(context.principal);
        if open >= limits::HOLDS_PER_PRINCIPAL_MAX {
            return Err(Refusal::TooManyHolds {
                limit: limits::HOLDS_PER_PRINCIPAL_MAX,
            });
        }
        Ok(())
    }
}

/// A time of zero is refused too: such a hold would never be open.
pub(super) const fn refuse_ttl(ttl_ms: u32) -> Result<(), Refusal> {
    if ttl_ms == 0 || ttl_ms > limits::HOLD_TTL_MS_MAX {
        return Err(Refusal::HoldTooLong {
            ttl_ms_max: limits::HOLD_TTL_MS_MAX,
        });
    }
    Ok(())
}
