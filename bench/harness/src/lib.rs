//! The order book as an engine of the public matching harness: the C interface of its
//! `matching_engine_api.h`.

#![expect(
    unsafe_code,
    reason = "a C interface takes pointers; everything behind it is safe"
)]

pub mod abi;
mod entry;
mod session;
mod transport;

use std::{cell::RefCell, env, ffi::c_void, ptr, slice};

use crate::{
    abi::{Cancel, Message, MessageBody, Modify, NewOrder, Report, Transport},
    session::side,
    transport::ReportChannel,
};

pub use entry::{Entry, ReportSink};
pub use session::Session;

/// An environment variable. Its value `harness` sends reports through the harness's own queue.
pub const TRANSPORT_VARIABLE: &str = "TURNSTILE_TRANSPORT";

static TRANSPORT: Transport = Transport {
    create,
    push,
    drain,
    flush,
    destroy,
};

thread_local! {
    /// The harness calls an engine from one thread, and only its transport from another.
    static ENGINE: RefCell<Option<LoadedEngine>> = const { RefCell::new(None) };
}

struct LoadedEngine {
    session: Session,
    reports: ReportsTo,
}

/// Where reports go.
#[derive(Clone, Copy)]
enum ReportsTo {
    Channel(*mut ReportChannel),
    Queue(ForeignTransport),
}

/// A transport that is not ours.
#[derive(Clone, Copy)]
struct ForeignTransport {
    transport: Transport,
    handle: *mut c_void,
}

impl LoadedEngine {
    #[inline]
    fn handle(&mut self, messages: &[Message]) {
        match self.reports {
            ReportsTo::Channel(channel) => {
                // SAFETY: the harness destroys a transport after its engine, and only this thread
                // uses the producer.
                let producer = unsafe { &mut (*channel).producer };
                handle(&mut self.session, messages, producer);
            }
            ReportsTo::Queue(mut queue) => handle(&mut self.session, messages, &mut queue),
        }
    }
}

#[inline]
fn handle(session: &mut Session, messages: &[Message], sink: &mut impl ReportSink) {
    for message in messages {
        // SAFETY: the kind says which of the three it is, and any bytes make one.
        unsafe {
            match message.kind {
                0 => session.submit(&message.body.new, sink),
                1 => session.cancel(&message.body.cancel, sink),
                _ => session.modify(&message.body.modify, sink),
            }
        }
    }
}

impl ForeignTransport {
    #[inline]
    fn push(self, report: &Report) {
        // SAFETY: the handle is the transport's own, and the report is only read.
        while unsafe { (self.transport.push)(self.handle, report) } == 0 {
            std::hint::spin_loop();
        }
    }
}

impl ReportSink for ForeignTransport {
    #[inline]
    fn put(&mut self, entry: Entry) {
        self.push(&entry.report());
    }

    #[inline]
    fn put_trade(&mut self, entry: Entry, taker: u64) {
        self.push(&entry.trade_report(taker));
    }
}

fn with_engine<T>(job: impl FnOnce(&mut LoadedEngine) -> T) -> T {
    ENGINE.with_borrow_mut(|engine| job(engine.as_mut().expect("engine_init comes first")))
}

/// # Safety
/// `transport` and `handle` are the transport that the harness has chosen; it outlives the engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_init(_seed: u64, transport: *const Transport, handle: *mut c_void) {
    let reports = if ptr::eq(transport, &raw const TRANSPORT) {
        ReportsTo::Channel(handle.cast())
    } else {
        // SAFETY: the caller says that it is a transport.
        let transport = unsafe { *transport };
        ReportsTo::Queue(ForeignTransport { transport, handle })
    };
    let session = Session::new();
    ENGINE.set(Some(LoadedEngine { session, reports }));
}

#[unsafe(no_mangle)]
pub extern "C" fn engine_shutdown() {
    ENGINE.set(None);
}

/// # Safety
/// `order` points to a new order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_on_new_order(order: *const NewOrder) {
    // SAFETY: the caller says so.
    let new = unsafe { *order };
    handle_one(0, MessageBody { new });
}

/// # Safety
/// `cancel` points to a cancellation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_on_cancel(cancel: *const Cancel) {
    // SAFETY: the caller says so.
    let cancel = unsafe { *cancel };
    handle_one(1, MessageBody { cancel });
}

/// # Safety
/// `modify` points to a modification.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_on_modify(modify: *const Modify) {
    // SAFETY: the caller says so.
    let modify = unsafe { *modify };
    handle_one(2, MessageBody { modify });
}

#[inline]
fn handle_one(kind: u8, body: MessageBody) {
    let message = Message {
        kind,
        reserved: [0; 7],
        body,
    };
    with_engine(|engine| engine.handle(slice::from_ref(&message)));
}

/// Handles messages one after the other; none is looked at before the one before it is done.
///
/// # Safety
/// `messages` points to `count` messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_on_batch(messages: *const Message, count: u32) {
    // SAFETY: the caller says so.
    let messages = unsafe { slice::from_raw_parts(messages, count as usize) };
    with_engine(|engine| engine.handle(messages));
}

/// Makes the reports of all messages visible to the drainer.
#[unsafe(no_mangle)]
pub extern "C" fn engine_flush() {
    with_engine(|engine| match engine.reports {
        // SAFETY: as in `LoadedEngine::handle`.
        ReportsTo::Channel(channel) => unsafe { &mut (*channel).producer }.flush(),
        // SAFETY: the handle is the transport's own.
        ReportsTo::Queue(queue) => unsafe { (queue.transport.flush)(queue.handle) },
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn engine_query_best_bid() -> i64 {
    with_engine(|engine| engine.session.best(side(0)).unwrap_or(i64::MIN))
}

#[unsafe(no_mangle)]
pub extern "C" fn engine_query_best_ask() -> i64 {
    with_engine(|engine| engine.session.best(side(1)).unwrap_or(i64::MAX))
}

#[unsafe(no_mangle)]
pub extern "C" fn engine_query_depth_at(price: i64, side_number: u8) -> u64 {
    with_engine(|engine| engine.session.depth(side(side_number), price))
}

/// Our transport, or null if [`TRANSPORT_VARIABLE`] asks for the harness's own.
#[unsafe(no_mangle)]
pub extern "C" fn engine_get_transport() -> *const Transport {
    if env::var_os(TRANSPORT_VARIABLE).is_some_and(|value| value == "harness") {
        return ptr::null();
    }
    &raw const TRANSPORT
}

extern "C" fn create(capacity: u32) -> *mut c_void {
    Box::into_raw(Box::new(ReportChannel::new(capacity as usize))).cast()
}

unsafe extern "C" fn push(handle: *mut c_void, report: *const Report) -> i32 {
    let channel: *mut ReportChannel = handle.cast();
    // SAFETY: the handle came from `create`, and one thread pushes; the report is the caller's.
    let (producer, report) = unsafe { (&mut (*channel).producer, &*report) };
    i32::from(producer.push(report))
}

unsafe extern "C" fn drain(handle: *mut c_void, out: *mut Report, max: u32) -> u32 {
    let channel: *mut ReportChannel = handle.cast();
    // SAFETY: the handle came from `create`, one thread drains, and `out` has room for `max`.
    let (consumer, out) = unsafe {
        let out = slice::from_raw_parts_mut(out, max as usize);
        (&mut (*channel).consumer, out)
    };
    u32::try_from(consumer.drain(out)).expect("no more are drained than there is room for")
}

unsafe extern "C" fn flush(handle: *mut c_void) {
    let channel: *mut ReportChannel = handle.cast();
    // SAFETY: the handle came from `create`, and the thread that pushes flushes.
    unsafe { &mut (*channel).producer }.flush();
}

unsafe extern "C" fn destroy(handle: *mut c_void) {
    let channel: *mut ReportChannel = handle.cast();
    // SAFETY: the handle came from `create`, and neither thread uses it any more.
    drop(unsafe { Box::from_raw(channel) });
}
