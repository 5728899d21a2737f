//! Where a command came from: the door, the caller's address as far as the policy keeps it, and the
//! request id. Records keep it for the audit; no machine sees it.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use crate::Principal;

/// Who sends a command, and from where. Two pointers, so that it is passed on without a copy.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub principal: &'a Principal,
    pub origin: &'a Origin<'a>,
}

impl<'a> Author<'a> {
    /// A principal of whom only the name is known.
    #[must_use]
    pub const fn unknown(principal: &'a Principal) -> Self {
        Self {
            principal,
            origin: &Origin::UNKNOWN,
        }
    }

    /// A principal in whose name the server itself acts.
    #[must_use]
    pub const fn server(principal: &'a Principal) -> Self {
        Self {
            principal,
            origin: &Origin::SERVER,
        }
    }
}

/// Where a command came from. A session keeps one without a request id; each request adds its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    pub door: DoorKind,
    pub address: CallerAddress,
    pub request_id: Option<RequestId<'a>>,
}

impl Origin<'static> {
    /// Of a record that does not say: those of group version 1.
    pub const UNKNOWN: Self = Self::without_address(DoorKind::Unknown);

    /// Of what the server does by itself, such as expiries.
    pub const SERVER: Self = Self::without_address(DoorKind::Server);

    /// Of a caller with this address, as far as the policy keeps it.
    #[must_use]
    pub fn at(door: DoorKind, ip: IpAddr, policy: AddressPolicy) -> Self {
        Self {
            address: CallerAddress::of(ip, policy),
            ..Self::without_address(door)
        }
    }

    /// Of a door where callers have no address.
    #[must_use]
    pub const fn without_address(door: DoorKind) -> Self {
        Self {
            door,
            address: CallerAddress::NONE,
            request_id: None,
        }
    }
}

/// The way by which a command came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorKind {
    /// The record does not say.
    Unknown,
    /// Nobody asked: the server acts by itself.
    Server,
    Resp,
    Http,
    /// A WebSocket.
    Socket,
    Xml,
    /// The lines of travel, those between its processes too.
    Travel,
    Arena,
    Scores,
    /// A command of this program on a directory that no server uses.
    Directory,
}

impl DoorKind {
    /// By their numbers in records, which never change.
    const ALL: [Self; 10] = [
        Self::Unknown,
        Self::Server,
        Self::Resp,
        Self::Http,
        Self::Socket,
        Self::Xml,
        Self::Travel,
        Self::Arena,
        Self::Scores,
        Self::Directory,
    ];

    /// Its number in records.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The door with this number, if there is one.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Server => "server",
            Self::Resp => "resp",
            Self::Http => "http",
            Self::Socket => "socket",
            Self::Xml => "xml",
            Self::Travel => "travel",
            Self::Arena => "arena",
            Self::Scores => "scores",
            Self::Directory => "directory",
        }
    }
}

/// What kind of network a caller's address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// There is no address, or nobody noted it.
    None,
    /// The same host.
    Loopback,
    /// A network that the internet does not route: RFC 1918, RFC 6598, RFC 4193 and link-local.
    Private,
    Public,
}

impl AddressClass {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Public => "public",
        }
    }

    fn of(ip: IpAddr) -> Self {
        if ip.is_loopback() {
            return Self::Loopback;
        }
        if ip.is_unspecified() {
            return Self::None;
        }
        let is_private = match ip {
            IpAddr::V4(ip) => ip.is_private() || ip.is_link_local() || is_shared(ip),
            IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
        };
        if is_private {
            Self::Private
        } else {
            Self::Public
        }
    }
}

/// Whether an address is of 100.64.0.0/10, which providers use inside their networks (RFC 6598).
const fn is_shared(ip: Ipv4Addr) -> bool {
    let [first, second, ..] = ip.octets();
    first == 100 && second & 0xc0 == 0x40
}

/// How much of a caller's address records keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Only its class.
    None,
    /// The network: 24 bits of an IPv4 address, 48 of an IPv6 address.
    #[default]
    Network,
    Whole,
}

/// A caller's address, as far as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerAddress {
    pub class: AddressClass,
    pub kept: KeptAddress,
}

/// The part of an address that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptAddress {
    Nothing,
    /// The first 24 bits.
    V4Network([u8; 3]),
    V4([u8; 4]),
    /// The first 48 bits.
    V6Network([u8; 6]),
    V6([u8; 16]),
}

impl CallerAddress {
    pub const NONE: Self = Self {
        class: AddressClass::None,
        kept: KeptAddress::Nothing,
    };

    /// Of a caller with this address. One of the same host is never kept: its class says it all.
    #[must_use]
    pub fn of(ip: IpAddr, policy: AddressPolicy) -> Self {
        let ip = ip.to_canonical();
        let class = AddressClass::of(ip);
        let kept = match (class, policy, ip) {
            (AddressClass::None | AddressClass::Loopback, ..) | (_, AddressPolicy::None, _) => {
                KeptAddress::Nothing
            }
            (_, AddressPolicy::Network, IpAddr::V4(ip)) => {
                let [a, b, c, _] = ip.octets();
                KeptAddress::V4Network([a, b, c])
            }
            (_, AddressPolicy::Network, IpAddr::V6(ip)) => {
                let [a, b, c, d, e, f, ..] = ip.octets();
                KeptAddress::V6Network([a, b, c, d, e, f])
            }
            (_, AddressPolicy::Whole, IpAddr::V4(ip)) => KeptAddress::V4(ip.octets()),
            (_, AddressPolicy::Whole, IpAddr::V6(ip)) => KeptAddress::V6(ip.octets()),
        };
        Self { class, kept }
    }
}

impl KeptAddress {
    /// Its bytes, the first of the address first.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Nothing => &[],
            Self::V4Network(bytes) => bytes,
            Self::V4(bytes) => bytes,
            Self::V6Network(bytes) => bytes,
            Self::V6(bytes) => bytes,
        }
    }
}

/// The address or its network; nothing where none is kept.
impl fmt::Display for KeptAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => Ok(()),
            Self::V4Network([a, b, c]) => write!(f, "{}/24", Ipv4Addr::new(a, b, c, 0)),
            Self::V4(bytes) => Ipv4Addr::from(bytes).fmt(f),
            Self::V6Network([a, b, c, d, e, g]) => {
                let bytes = [a, b, c, d, e, g, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                write!(f, "{}/48", Ipv6Addr::from(bytes))
            }
            Self::V6(bytes) => Ipv6Addr::from(bytes).fmt(f),
        }
    }
}

/// The id that a caller or a proxy gave to a request: 1 to 64 visible ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId<'a>(&'a str);

/// Why some text is not a [`RequestId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidRequestId {
    Empty,
    /// Longer than 64 bytes; the field holds the length found.
    TooLong(usize),
    /// The byte offset of the first character that is not visible ASCII.
    Character(usize),
}

impl<'a> RequestId<'a> {
    /// The longest one, in bytes.
    pub const LENGTH_MAX: usize = 64;

    /// Parses a request id.
    ///
    /// # Errors
    /// Text that is empty, longer than 64 bytes or not visible ASCII.
    pub fn parse(text: &'a [u8]) -> Result<Self, InvalidRequestId> {
        if text.is_empty() {
            return Err(InvalidRequestId::Empty);
        }
        if text.len() > Self::LENGTH_MAX {
            return Err(InvalidRequestId::TooLong(text.len()));
        }
        // Without a branch for each byte, since every request over HTTP has an id.
        let is_visible = text
            .iter()
            .fold(true, |all, byte| all & byte.is_ascii_graphic());
        if !is_visible && let Some(at) = text.iter().position(|byte| !byte.is_ascii_graphic()) {
            return Err(InvalidRequestId::Character(at));
        }
        Ok(Self(str::from_utf8(text).expect("visible ASCII is UTF-8")))
    }

    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.0
    }
}

impl fmt::Display for InvalidRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a request id has at least one character"),
            Self::TooLong(length) => write!(
                f,
                "a request id has at most {} characters, this one has {length}",
                RequestId::LENGTH_MAX
            ),
            Self::Character(at) => {
                write!(
                    f,
                    "a request id is visible ASCII, character {} is not",
                    at + 1
                )
            }
        }
    }
}

impl std::error::Error for InvalidRequestId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_as_far_as_the_policy_says() {
        use AddressPolicy::{Network, None, Whole};
        let rows = [
            ("203.0.113.77", None, "public", ""),
            ("203.0.113.77", Network, "public", "203.0.113.0/24"),
            ("203.0.113.77", Whole, "public", "203.0.113.77"),
            ("10.1.2.3", Network, "private", "10.1.2.0/24"),
            ("169.254.1.1", None, "private", ""),
            ("100.64.0.1", None, "private", ""),
            ("100.128.0.1", None, "public", ""),
            ("127.9.9.9", Whole, "loopback", ""),
            ("0.0.0.0", Whole, "none", ""),
            ("::1", Whole, "loopback", ""),
            ("::ffff:127.0.0.1", Whole, "loopback", ""),
            ("::ffff:203.0.113.77", Network, "public", "203.0.113.0/24"),
            ("2001:db8:1:2::3", Network, "public", "2001:db8:1::/48"),
            ("2001:db8:1:2::3", Whole, "public", "2001:db8:1:2::3"),
            ("fd00::1", None, "private", ""),
            ("fe80::1", None, "private", ""),
        ];
        for (ip, policy, class, kept) in rows {
            let address = CallerAddress::of(ip.parse().expect("an address"), policy);
            let found = (address.class.word(), address.kept.to_string());
            assert_eq!(found, (class, kept.to_owned()), "{ip} {policy:?}");
        }
    }

    #[test]
    fn a_door_is_found_by_its_number_and_words_differ() {
        for (number, door) in DoorKind::ALL.into_iter().enumerate() {
            let number = u8::try_from(number).expect("a few doors");
            assert_eq!(door.number(), number);
            assert_eq!(DoorKind::of_number(number), Some(door));
            let same = |other: &&DoorKind| other.word() == door.word();
            assert_eq!(DoorKind::ALL.iter().filter(same).count(), 1, "{door:?}");
        }
        assert_eq!(DoorKind::of_number(10), None);
    }

    #[test]
    fn a_request_id_is_visible_ascii() {
        let long = [b'r'; 65];
        let rows: [(&[u8], Result<&str, InvalidRequestId>); 5] = [
            (b"req-1/\"x\"", Ok("req-1/\"x\"")),
            (b"", Err(InvalidRequestId::Empty)),
            (b"two words", Err(InvalidRequestId::Character(3))),
            (b"caf\xc3\xa9", Err(InvalidRequestId::Character(3))),
            (&long, Err(InvalidRequestId::TooLong(65))),
        ];
        for (text, expected) in rows {
            let read = RequestId::parse(text);
            assert_eq!(
                read.as_ref().map(RequestId::as_str),
                expected.as_ref().copied()
            );
        }
    }
}
