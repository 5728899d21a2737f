//! The structures of `matching_engine_api.h`, byte for byte.

use std::{ffi::c_void, fmt};

/// `new_order_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct NewOrder {
    pub order: u64,
    pub sequence: u64,
    /// Ticks.
    pub price: i64,
    pub quantity: u32,
    /// 0 buys, 1 sells.
    pub side: u8,
    /// Not 0: what does not trade at once is cancelled.
    pub immediate: u8,
    pub reserved: [u8; 2],
}

/// `cancel_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Cancel {
    pub order: u64,
    pub sequence: u64,
}

/// `modify_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Modify {
    pub order: u64,
    pub sequence: u64,
    /// Ticks.
    pub price: i64,
    pub quantity: u32,
    pub side: u8,
    pub reserved: [u8; 3],
}

/// `me_msg_t`: a kind (0 new, 1 cancel, 2 modify) and the message of that kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Message {
    pub kind: u8,
    pub reserved: [u8; 7],
    pub body: MessageBody,
}

/// The union in `me_msg_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub union MessageBody {
    pub new: NewOrder,
    pub cancel: Cancel,
    pub modify: Modify,
}

/// `me_report_t`: a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Report {
    /// A [`ReportKind`](turnstile_capi::ReportKind).
    pub kind: u8,
    pub side: u8,
    pub reserved: [u8; 6],
    pub sequence: u64,
    pub order: u64,
    /// Ticks; of a trade the maker's.
    pub price: i64,
    pub quantity: u32,
    pub reserved_middle: u32,
    /// Of a trade, else 0.
    pub maker: u64,
    /// Of a trade, else 0.
    pub taker: u64,
    pub reserved_end: u64,
}

/// `me_transport_t`: how reports get from the matching thread to the harness's drainer thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Transport {
    pub create: extern "C" fn(u32) -> *mut c_void,
    pub push: unsafe extern "C" fn(*mut c_void, *const Report) -> i32,
    pub drain: unsafe extern "C" fn(*mut c_void, *mut Report, u32) -> u32,
    pub flush: unsafe extern "C" fn(*mut c_void),
    pub destroy: unsafe extern "C" fn(*mut c_void),
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut message = f.debug_struct("Message");
        message.field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl fmt::Debug for MessageBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
