//! The fields of which commands, outcomes and snapshots are made.

use turnstile_types::{
    Malformed, Name, Night, Reader, Stay, put_bytes, put_u8, put_u16, put_u32, put_u64,
};

use crate::{GuestId, GuestName, Nights, Reference, Wish};

pub(crate) fn put_name(out: &mut Vec<u8>, name: &Name) {
    let bytes = name.as_bytes();
    put_u8(
        out,
        u8::try_from(bytes.len()).expect("a name has at most 64 bytes"),
    );
    out.extend_from_slice(bytes);
}

pub(crate) fn name(reader: &mut Reader<'_>, field: &'static str) -> Result<Name, Malformed> {
    let length = usize::from(reader.u8(field)?);
    Name::parse(reader.take(length, field)?).map_err(|_invalid| Malformed { field })
}

pub(crate) fn put_stay(out: &mut Vec<u8>, stay: Stay) {
    put_u16(out, stay.arrival().days());
    put_u8(out, stay.nights());
}

pub(crate) fn put_reference(out: &mut Vec<u8>, reference: Reference) {
    put_u32(out, reference.slot);
    put_u32(out, reference.generation);
}

pub(crate) fn reference(reader: &mut Reader<'_>) -> Result<Reference, Malformed> {
    Ok(Reference {
        slot: reader.u32("slot")?,
        generation: reader.u32("generation")?,
    })
}

pub(crate) fn put_guest(out: &mut Vec<u8>, guest: &str) {
    put_bytes(out, guest.as_bytes());
}

pub(crate) fn guest<'a>(reader: &mut Reader<'a>) -> Result<GuestName<'a>, Malformed> {
    GuestName::parse(reader.bytes("guest")?).map_err(|_invalid| Malformed { field: "guest" })
}

pub(crate) fn put_guest_id(out: &mut Vec<u8>, id: GuestId) {
    put_u64(out, id.seal);
    put_u16(out, id.last_four);
}

pub(crate) fn guest_id(reader: &mut Reader<'_>) -> Result<GuestId, Malformed> {
    let id = GuestId {
        seal: reader.u64("guest id")?,
        last_four: reader.u16("guest id")?,
    };
    if id.last_four > 9_999 {
        return Err(Malformed { field: "guest id" });
    }
    Ok(id)
}

pub(crate) fn put_wish(out: &mut Vec<u8>, wish: &Wish) {
    match wish {
        Wish::Room(name) => {
            put_u8(out, 0);
            put_name(out, name);
        }
        Wish::Type(name) => {
            put_u8(out, 1);
            put_name(out, name);
        }
        Wish::Any => put_u8(out, 2),
    }
}

pub(crate) fn wish(reader: &mut Reader<'_>) -> Result<Wish, Malformed> {
    match reader.u8("wish")? {
        0 => Ok(Wish::Room(name(reader, "room")?)),
        1 => Ok(Wish::Type(name(reader, "type")?)),
        2 => Ok(Wish::Any),
        _ => Err(Malformed { field: "wish" }),
    }
}

pub(crate) fn put_nights(out: &mut Vec<u8>, nights: Nights) {
    put_u16(out, nights.first.days());
    out.extend_from_slice(&nights.bits.to_le_bytes());
}

pub(crate) fn nights(reader: &mut Reader<'_>) -> Result<Nights, Malformed> {
    let first = Night::from_days(reader.u16("nights")?);
    let low = u128::from(reader.u64("nights")?);
    let high = u128::from(reader.u64("nights")?);
    Ok(Nights {
        first,
        bits: high << 64 | low,
    })
}
