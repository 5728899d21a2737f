//! The bytes of an origin: numbers of address classes and forms, and what they stand for.

use turnstile_types::{
    AddressClass, CallerAddress, DoorKind, KeptAddress, Malformed, Origin, RequestId,
};

/// An origin's parts as they lie in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawOrigin<'a> {
    pub(crate) door: u8,
    /// Class and form of the address.
    pub(crate) kind: u8,
    pub(crate) address: &'a [u8],
    pub(crate) request_id: &'a [u8],
}

impl RawOrigin<'_> {
    pub(crate) const UNKNOWN: Self = Self {
        door: 0,
        kind: 0,
        address: &[],
        request_id: &[],
    };
}

/// One byte for class and form of an address: the class in the lower half, the form in the upper one.
pub(crate) const fn number_of(address: &CallerAddress) -> u8 {
    let class = match address.class {
        AddressClass::None => 0,
        AddressClass::Loopback => 1,
        AddressClass::Private => 2,
        AddressClass::Public => 3,
    };
    let form = match address.kept {
        KeptAddress::Nothing => 0,
        KeptAddress::V4Network(_) => 1,
        KeptAddress::V4(_) => 2,
        KeptAddress::V6Network(_) => 3,
        KeptAddress::V6(_) => 4,
    };
    form << 4 | class
}

/// How many bytes of an address follow in a record with such a number.
pub(crate) const fn address_bytes(number: u8) -> Result<usize, Malformed> {
    Ok(match number >> 4 {
        0 => 0,
        1 => 3,
        2 => 4,
        3 => 6,
        4 => 16,
        _ => {
            return Err(Malformed {
                field: "form of an address",
            });
        }
    })
}

impl<'a> RawOrigin<'a> {
    /// What the bytes stand for; nothing if they are malformed.
    pub(crate) fn read(&self) -> Option<Origin<'a>> {
        let class = match self.kind & 0xf {
            0 => AddressClass::None,
            1 => AddressClass::Loopback,
            2 => AddressClass::Private,
            3 => AddressClass::Public,
            _ => return None,
        };
        let kept = match (self.kind >> 4, self.address) {
            (0, []) => KeptAddress::Nothing,
            (1, bytes) => KeptAddress::V4Network(bytes.try_into().ok()?),
            (2, bytes) => KeptAddress::V4(bytes.try_into().ok()?),
            (3, bytes) => KeptAddress::V6Network(bytes.try_into().ok()?),
            (4, bytes) => KeptAddress::V6(bytes.try_into().ok()?),
            _ => return None,
        };
        let request_id = match self.request_id {
            [] => None,
            text => Some(RequestId::parse(text).ok()?),
        };
        Some(Origin {
            door: DoorKind::of_number(self.door)?,
            address: CallerAddress { class, kept },
            request_id,
        })
    }
}
