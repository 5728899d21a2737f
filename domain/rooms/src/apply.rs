//! Applies commands; one file for each command.
//!
//! Refusals come in one order, whatever the command: the reference (`not_found`, `ended`), its
//! state (`already_confirmed`, `not_confirmed`, `hold_expired`), the caller (`wrong_guest`); the
//! property, the room or type; the limits on holds (`hold_too_long`, then `too_many_holds`,
//! `hold_ceiling`); the stop-sell, what is sold; and last the limit on rooms.

mod book;
mod cancel;
mod choice;
mod confirm;
mod extend;
mod hold;
mod moving;
mod property;
mod release;
mod room;
mod stop_sell;

use turnstile_types::Context;

pub(crate) use choice::{Place, WishTarget};

use crate::{Command, Done, Refusal, Rooms};

impl Rooms {
    pub(crate) fn decide(
        &mut self,
        context: &Context<'_>,
        command: &Command<'_>,
    ) -> Result<Done, Refusal> {
        match *command {
            Command::AddProperty { property, open } => self.add_property(context, property, open),
            Command::AddRoom {
                property,
                room,
                room_type,
            } => self.add_room(context, &property, room, room_type),
            Command::WithdrawRoom { property, room } => {
                self.withdraw_room(context, &property, &room)
            }
            Command::StopSell {
                property,
                room,
                stay,
                stopped,
            } => self.stop_sell(context, &property, room, stay, stopped),
            Command::Book {
                property,
                wish,
                stay,
                guest,
                id,
            } => self.book(context, (&property, &wish, stay), guest, id),
            Command::Hold {
                property,
                wish,
                stay,
                ttl_ms,
            } => self.hold(context, (&property, &wish, stay), ttl_ms),
            Command::Extend { hold, ttl_ms } => self.extend(context, hold, ttl_ms),
            Command::Confirm { hold, guest, id } => self.confirm(context, hold, guest, id),
            Command::Release { hold } => self.release(context, hold),
            Command::Cancel { booking, id } => self.cancel(context, booking, id),
            Command::CancelForGuest { booking, reason } => {
                self.cancel_for_guest(context, booking, reason)
            }
            Command::Move {
                booking,
                wish,
                stay,
                id,
            } => self.move_booking(context, booking, (&wish, stay), id),
        }
    }
}
