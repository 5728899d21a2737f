//! The order book behind a C interface, so that harnesses of others can drive it.
//!
//! The interface is `include/turnstile_book.h`; what it does is [`Desk`], in safe Rust. The [`Session`] in it
//! also serves the public matching harness.

#![expect(
    unsafe_code,
    reason = "a C interface takes pointers; everything behind it is safe"
)]

mod desk;
mod order_index;
mod session;

use std::ptr;

use turnstile_book::Side;

pub use desk::{Desk, Told};
pub use session::{MakerFill, Order, Place, ReportKind, Reports, Session};

/// Reports that a desk has room for before it grows: a sweep of a deep book.
const REPORTS: usize = 1 << 16;

/// `ts_order`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TsOrder {
    order: u64,
    price: u64,
    quantity: u64,
    /// 0 buys, anything else sells.
    side: u32,
    immediate: u32,
}

const fn side(side: u32) -> Side {
    if side == 0 { Side::Buy } else { Side::Sell }
}

/// A book with room for so many orders at once; it grows beyond.
#[unsafe(no_mangle)]
pub extern "C" fn ts_book_new(resting: usize) -> *mut Desk {
    Box::into_raw(Box::new(Desk::new(resting, REPORTS)))
}

/// # Safety
/// `book` is null or came from `ts_book_new`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_free(book: *mut Desk) {
    if !book.is_null() {
        // SAFETY: the caller says that it is one of our boxes and that this is its end.
        drop(unsafe { Box::from_raw(book) });
    }
}

/// # Safety
/// `book` came from `ts_book_new`, no other thread uses it, and `order` points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_order(book: *mut Desk, order: *const TsOrder) {
    // SAFETY: the caller says that both are valid and that the book is not in use.
    let (desk, order) = unsafe { (&mut *book, &*order) };
    desk.submit(&Order {
        number: order.order,
        side: side(order.side),
        price: order.price,
        quantity: order.quantity,
        immediate: order.immediate != 0,
    });
}

/// # Safety
/// `book` came from `ts_book_new`, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_cancel(book: *mut Desk, order: u64) {
    // SAFETY: the caller says that the book is valid and not in use.
    unsafe { &mut *book }.cancel(order);
}

/// # Safety
/// `book` came from `ts_book_new`, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_modify(book: *mut Desk, order: u64, price: u64, quantity: u64) {
    // SAFETY: the caller says that the book is valid and not in use.
    unsafe { &mut *book }.modify(order, price, quantity);
}

/// Moves up to `max` reports out, the oldest first; returns how many.
///
/// # Safety
/// `book` came from `ts_book_new`, no other thread uses it, and `out` has room for `max` reports.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_drain(book: *mut Desk, out: *mut Told, max: usize) -> usize {
    // SAFETY: the caller says that the book is valid and not in use.
    let desk = unsafe { &mut *book };
    let count = desk.reports().len().min(max);
    // SAFETY: the caller says that `out` has room for `max`, and `count` is not more; the reports
    // are ours and so not there.
    unsafe { ptr::copy_nonoverlapping(desk.reports().as_ptr(), out, count) };
    desk.forget(count);
    count
}

/// What rests at a price: its sum, or zero.
///
/// # Safety
/// `book` came from `ts_book_new`, and no other thread changes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_depth(book: *const Desk, side_number: u32, price: u64) -> u64 {
    // SAFETY: the caller says that the book is valid and not in use.
    let depth = unsafe { &*book }.at(side(side_number), price);
    depth.map_or(0, |depth| depth.quantity)
}

/// Writes the best price of a side to `price` and returns 1, or returns 0 where there is none.
///
/// # Safety
/// `book` came from `ts_book_new`, no other thread changes it, and `price` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_book_best(book: *const Desk, side_number: u32, price: *mut u64) -> i32 {
    // SAFETY: the caller says that the book is valid and not in use.
    let Some(depth) = unsafe { &*book }.best(side(side_number)) else {
        return 0;
    };
    // SAFETY: the caller says that it points to a number.
    unsafe { *price = depth.price };
    1
}
