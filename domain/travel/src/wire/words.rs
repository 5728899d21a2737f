//! The bytes of commands and outcomes. Byte map and promise: `docs/formats/travel.md`.

use turnstile_types::{Malformed, Reader};

use super::{Wire, fields, kinds};
use crate::{AbortReason, Command, Done, Outcome, Refusal, Roles, Settings, Step, Trip};

impl Wire for Trip {
    fn put(&self, out: &mut Vec<u8>) {
        super::put_count(self.items().len(), out);
        self.items().iter().for_each(|item| item.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::new(Vec::read(reader)?).ok_or(Malformed { field: "trip" })
    }
}

fields!(Roles { coordinator, desks });
fields!(Settings {
    roles,
    lifetime_ms,
    wait_ms,
    detect_deadlocks
});

kinds!(Command {
    0x01 Start,
    0x02 Within { xid, step },
    0x03 Abort { xid },
    0x04 Evict { xid },
    0x10 Book { customer, trip, hold_ms },
    0x11 Confirm { locator },
    0x12 Cancel { locator },
    0x20 Configure(settings),
    0x21 RecoverUnstaged,
    0x22 Resolve { desk, xid, commit },
    0x23 Deliver(parcel),
    0x24 Recover,
});

kinds!(Step {
    0x01 Add { item, count, price },
    0x02 Delete { item },
    0x03 Query { item },
    0x04 AddCustomer { customer },
    0x05 DeleteCustomer { customer },
    0x06 QueryCustomer { customer },
    0x07 Reserve { customer, trip },
    0x08 Summary,
    0x09 Commit,
});

kinds!(Outcome {
    0x01 Done(done),
    0x02 Refused(refusal),
    0x03 Waiting { ticket },
});

kinds!(Done {
    0x01 Started { xid },
    0x02 Committed,
    0x03 Aborted,
    0x04 Added,
    0x05 Deleted,
    0x06 Stock(stock),
    0x07 CustomerAdded(customer),
    0x08 CustomerDeleted,
    0x09 Bill(bill),
    0x0a Reserved,
    0x0c Summary(bills),
    0x10 Booked { locator, price, until },
    0x11 Confirmed,
    0x12 Cancelled,
    0x20 Configured,
    0x21 Recovered,
    0x22 Resolved,
    0x23 Delivered,
});

kinds!(Refusal {
    0x01 NoSuchItem(item),
    0x02 SoldOut(item),
    0x03 ItemReserved(item),
    0x04 NotReserved(item),
    0x05 NoSuchCustomer(customer),
    0x06 CustomerExists(customer),
    0x07 Full { limit },
    0x10 UnknownTransaction,
    0x11 AlreadyCommitted,
    0x12 Aborted(reason),
    0x13 Busy,
    0x14 InDoubt(desk),
    0x15 NotInDoubt,
    0x16 MayBeCommitted,
    0x20 NoSuchItinerary,
    0x21 ItineraryOver,
    0x22 NotHeld,
    0x23 HoldTooLong { limit_ms },
    0x24 SummaryTooLong { limit },
    0x30 NotHere,
    0x31 UnsoundSettings,
});

kinds!(AbortReason {
    0x01 Asked,
    0x02 Refused,
    0x03 Expired,
    0x04 Deadlock { holder },
    0x05 LockTimeout { holder },
    0x06 DeskAway(desk),
    0x07 DeskLost(desk),
    0x08 Restarted,
    0x09 Evicted,
});
