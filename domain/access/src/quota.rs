//! How much a principal may ask for.

use turnstile_chassis::{Bytes, Fields, Parameters};

/// The most of anything that a quota can allow.
const MOST: u32 = 1_000_000_000;

/// How much a principal may ask for, over all its keys and connections. What is not set has no quota of
/// its own; the limits of the server hold in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes, Fields, Parameters)]
pub struct AccessQuota {
    /// Requests a second. A whole second's worth may come at once.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub requests_per_second: Option<u32>,
    /// Connections at a time.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub connections: Option<u32>,
    /// Requests that wait for their answers at a time.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub requests_under_way: Option<u32>,
    /// Bytes of answers and events a second.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub bytes_out_per_second: Option<u32>,
    /// Open holds of rooms and seats at a time, together.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub open_holds: Option<u32>,
    /// Open transactions of travel at a time.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub open_transactions: Option<u32>,
    /// Open orders of the exchange at a time.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub open_orders: Option<u32>,
    /// Idempotency keys that are remembered at a time.
    #[parameter(min = 1, max = u64::from(MOST))]
    pub idempotency_keys: Option<u32>,
}

impl AccessQuota {
    /// Nothing is set.
    pub const NONE: Self = Self {
        requests_per_second: None,
        connections: None,
        requests_under_way: None,
        bytes_out_per_second: None,
        open_holds: None,
        open_transactions: None,
        open_orders: None,
        idempotency_keys: None,
    };

    /// This quota, and `other` for what it does not set.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            requests_per_second: self.requests_per_second.or(other.requests_per_second),
            connections: self.connections.or(other.connections),
            requests_under_way: self.requests_under_way.or(other.requests_under_way),
            bytes_out_per_second: self.bytes_out_per_second.or(other.bytes_out_per_second),
            open_holds: self.open_holds.or(other.open_holds),
            open_transactions: self.open_transactions.or(other.open_transactions),
            open_orders: self.open_orders.or(other.open_orders),
            idempotency_keys: self.idempotency_keys.or(other.idempotency_keys),
        }
    }
}
