//! The stable bytes of commands and outcomes.
//!
//! One leading byte says what follows; numbers are little-endian; nothing may be left over. A
//! kind byte is never reused, and a field is never added to a kind: a new form gets a new kind.
//!
//! ```text
//! name       u8 length (1..64), bytes
//! stay       u16 arrival in days since 1970-01-01, u8 nights (1..90)
//! reference  u32 slot, u32 generation
//! instant    u64 milliseconds since 1970-01-01T00:00:00Z
//! guest id   u64 seal, u16 last four digits (0..9999)
//! guest      u16 length (1..400), UTF-8 bytes: 1..100 characters
//! wish       0x00 name = this room | 0x01 name = any of this type | 0x02 = any
//! nights     u16 first night in days, u128 bits (bit k = k-th night after the first)
//! flag       0x00 | 0x01
//!
//! command
//! 0x01 AddProperty   name property, flag open
//! 0x02 AddRoom       name property, name room, name type
//! 0x03 WithdrawRoom  name property, name room
//! 0x04 StopSell      name property, name room, stay, flag stopped
//! 0x05 Book          name property, wish, stay, guest, guest id
//! 0x06 Hold          name property, wish, stay, u32 ttl in ms
//! 0x07 Extend        reference, u32 ttl in ms
//! 0x08 Confirm       reference, guest, guest id
//! 0x09 Release       reference
//! 0x0a Cancel        reference, guest id
//!
//! outcome, done
//! 0x01 PropertyAdded    0x02 RoomAdded      0x03 RoomWithdrawn
//! 0x04 SaleStopped      0x05 SaleResumed
//! 0x06 Booked           reference, name room
//! 0x07 Held             reference, name room, instant until
//! 0x08 Extended         instant until
//! 0x09 Confirmed        reference, name room, flag late
//! 0x0a Released
//! 0x0b Cancelled        name room, stay
//!
//! outcome, refused
//! 0x81 UnknownProperty  0x82 UnknownRoom    0x83 UnknownType
//! 0x84 PropertyExists   0x85 RoomExists
//! 0x86 RoomInUse        u16 night in days
//! 0x87 TooManyRooms     u32 limit
//! 0x88 SoldOut          nights
//! 0x89 StopSell         nights
//! 0x8a NotFound         0x8b WrongGuest     0x8c Ended
//! 0x8d HoldExpired      0x8e AlreadyConfirmed  0x8f NotConfirmed
//! 0x90 TooManyHolds     u32 limit
//! 0x91 HoldTooLong      u32 longest ttl in ms
//! 0x92 HoldCeiling      instant latest end
//! ```

mod commands;
mod fields;
mod outcomes;

pub(crate) use commands::{command, put_command};
pub(crate) use fields::{guest, guest_id, name, put_guest, put_guest_id, put_name, put_stay};
pub(crate) use outcomes::{outcome, put_outcome};
