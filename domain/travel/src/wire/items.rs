//! The bytes of what everything else is made of.
//!
//! ```text
//! flag       00 | 01
//! instant    u64 ms since 1970-01-01T00:00:00Z
//! location   u8 length (1 to 31), bytes in lower case
//! item       00 location: cars | 01 i32 number: a flight | 02 location: rooms
//! desk       00 flights | 01 cars | 02 rooms | 03 customers
//! desks      u8, one bit for each desk, the flights' the lowest
//! locator    u32 number of the itinerary, from 1
//! stock      u32 free, u32 reserved, u32 price
//! bill       i32 customer, list of: item, u32 count, u32 price
//! ```

use turnstile_types::{Malformed, Reader};

use super::{Wire, fields, kinds};
use crate::{Bill, BillLine, CustomerId, Desk, Desks, Item, Location, Locator, Stock, Xid};

impl Wire for Xid {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::read(reader).map(Self)
    }
}

impl Wire for CustomerId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        i32::read(reader).map(Self)
    }
}

impl Wire for Locator {
    fn put(&self, out: &mut Vec<u8>) {
        self.number().put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::of(u32::read(reader)?).ok_or(Malformed { field: "locator" })
    }
}

impl Wire for Location {
    fn put(&self, out: &mut Vec<u8>) {
        let text = self.as_str().as_bytes();
        out.push(u8::try_from(text.len()).expect("at most 31 bytes"));
        out.extend_from_slice(text);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let field = "location";
        let length = reader.u8(field)?;
        let text = reader.take(usize::from(length), field)?;
        let location = Self::parse(text).map_err(|_invalid| Malformed { field })?;
        let same = location.as_str().as_bytes() == text;
        same.then_some(location).ok_or(Malformed { field })
    }
}

impl Wire for Desks {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.bits());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::from_bits(reader.u8("desks")?).ok_or(Malformed { field: "desks" })
    }
}

kinds!(Item {
    0x00 Car(location),
    0x01 Flight(number),
    0x02 Room(location),
});

kinds!(Desk {
    0x00 Flights,
    0x01 Cars,
    0x02 Rooms,
    0x03 Customers,
});

fields!(Stock {
    free,
    reserved,
    price
});
fields!(BillLine { item, count, price });
fields!(Bill { customer, lines });
