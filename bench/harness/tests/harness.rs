//! The engine as the harness drives it, beside a slow book: the same reports and the same answers.

#![expect(unsafe_code, reason = "the interface under test is that of C")]

use std::{ffi::c_void, ptr};

use turnstile_capi::ReportKind;
use turnstile_harness::{
    abi::{Cancel, Message, MessageBody, Modify, NewOrder, Report, Transport},
    engine_flush, engine_get_transport, engine_init, engine_on_batch, engine_on_cancel,
    engine_on_modify, engine_on_new_order, engine_query_best_ask, engine_query_best_bid,
    engine_query_depth_at, engine_shutdown,
};
use turnstile_seed::Random;

/// One sorted list; no cleverness.
#[derive(Default)]
struct Twin {
    /// The first to trade first, of both sides.
    resting: Vec<NewOrder>,
    reports: Vec<Report>,
}

impl Twin {
    fn handle(&mut self, message: &Message) {
        // SAFETY: the kind says which of the three it is.
        unsafe {
            match message.kind {
                0 => self.submit(message.body.new),
                1 => self.cancel(message.body.cancel),
                _ => self.modify(message.body.modify),
            }
        }
    }

    fn submit(&mut self, order: NewOrder) {
        if order.quantity == 0 || self.resting.iter().any(|one| one.order == order.order) {
            self.reject(ReportKind::NotModified, order.order, order.sequence);
            return;
        }
        self.report(ReportKind::Accepted, &order);
        self.enter(order);
    }

    fn cancel(&mut self, cancel: Cancel) {
        let Some(resting) = self.remove(cancel.order) else {
            self.reject(ReportKind::NotCancelled, cancel.order, cancel.sequence);
            return;
        };
        let sequence = cancel.sequence;
        self.report(
            ReportKind::Cancelled,
            &NewOrder {
                sequence,
                ..resting
            },
        );
    }

    fn modify(&mut self, modify: Modify) {
        let resting = self.resting.iter().find(|one| one.order == modify.order);
        let Some(&resting) = resting.filter(|_| modify.quantity > 0) else {
            self.reject(ReportKind::NotModified, modify.order, modify.sequence);
            return;
        };
        self.remove(modify.order);
        let order = NewOrder {
            sequence: modify.sequence,
            price: modify.price,
            quantity: modify.quantity,
            immediate: 0,
            ..resting
        };
        self.report(ReportKind::Modified, &order);
        self.enter(order);
    }

    fn enter(&mut self, mut order: NewOrder) {
        while order.quantity > 0 {
            let crosses = |maker: &&mut NewOrder| match order.side {
                0 => maker.side == 1 && maker.price <= order.price,
                _ => maker.side == 0 && maker.price >= order.price,
            };
            let Some(maker) = self.resting.iter_mut().find(crosses) else {
                break;
            };
            let traded = maker.quantity.min(order.quantity);
            maker.quantity -= traded;
            order.quantity -= traded;
            self.reports.push(Report {
                kind: ReportKind::Traded as u8,
                sequence: order.sequence,
                order: maker.order,
                price: maker.price,
                quantity: traded,
                maker: maker.order,
                taker: order.order,
                ..Report::default()
            });
            self.resting.retain(|one| one.quantity > 0);
        }
        if order.quantity > 0 && order.immediate != 0 {
            self.report(ReportKind::Cancelled, &order);
        } else if order.quantity > 0 {
            self.resting.push(order);
            self.resting.sort_by_key(|one| match one.side {
                0 => -one.price,
                _ => one.price,
            });
        }
    }

    fn remove(&mut self, number: u64) -> Option<NewOrder> {
        let place = self.resting.iter().position(|one| one.order == number)?;
        Some(self.resting.remove(place))
    }

    fn report(&mut self, kind: ReportKind, order: &NewOrder) {
        self.reports.push(Report {
            kind: kind as u8,
            side: order.side,
            sequence: order.sequence,
            order: order.order,
            price: order.price,
            quantity: order.quantity,
            ..Report::default()
        });
    }

    fn reject(&mut self, kind: ReportKind, order: u64, sequence: u64) {
        self.reports.push(Report {
            kind: kind as u8,
            sequence,
            order,
            ..Report::default()
        });
    }

    /// Best bid, best ask, and what rests on both sides at a price.
    fn answers(&self, price: i64) -> (i64, i64, [u64; 2]) {
        let of_side = |side: u8| self.resting.iter().filter(move |one| one.side == side);
        let prices = |side| of_side(side).map(|one| one.price);
        let depth = |side| {
            let there = of_side(side).filter(|one| one.price == price);
            there.map(|one| u64::from(one.quantity)).sum()
        };
        (
            prices(0).max().unwrap_or(i64::MIN),
            prices(1).min().unwrap_or(i64::MAX),
            [depth(0), depth(1)],
        )
    }
}

/// Messages about few orders, prices on both sides of zero, and numbers of all sizes.
fn message(random: &mut Random, sequence: u64) -> Message {
    let number = random.below(60);
    let order = if number % 10 == 9 {
        u64::MAX - number
    } else {
        number
    };
    let price = i64::try_from(random.below(12)).expect("a small number") - 6;
    let quantity = u32::try_from(random.below(9)).expect("a small number");
    let side = u8::from(random.one_in(2));
    let (kind, body) = match random.below(5) {
        0 | 1 => (
            0,
            MessageBody {
                new: NewOrder {
                    order,
                    sequence,
                    price,
                    quantity,
                    side,
                    immediate: u8::from(random.one_in(5)),
                    reserved: [0; 2],
                },
            },
        ),
        2 | 3 => (
            1,
            MessageBody {
                cancel: Cancel { order, sequence },
            },
        ),
        _ => (
            2,
            MessageBody {
                modify: Modify {
                    order,
                    sequence,
                    price,
                    quantity,
                    side,
                    reserved: [0; 3],
                },
            },
        ),
    };
    Message {
        kind,
        reserved: [0; 7],
        body,
    }
}

fn send(message: &Message) {
    // SAFETY: the kind says which of the three it is.
    unsafe {
        match message.kind {
            0 => engine_on_new_order(&raw const message.body.new),
            1 => engine_on_cancel(&raw const message.body.cancel),
            _ => engine_on_modify(&raw const message.body.modify),
        }
    }
}

/// Drives an engine, half of the messages one by one and half in batches, and compares it.
fn drive(transport: *const Transport, handle: *mut c_void, drain: impl Fn() -> Vec<Report>) {
    for seed in 0..20 {
        // SAFETY: both callers say that it is a transport with its handle.
        unsafe { engine_init(seed, transport, handle) };
        let mut random = Random::new(seed);
        let mut twin = Twin::default();
        let messages: Vec<Message> = (0..400).map(|at| message(&mut random, at)).collect();
        for batch in messages.chunks(10) {
            if random.one_in(2) {
                batch.iter().for_each(send);
            } else {
                // SAFETY: so many messages are there.
                unsafe { engine_on_batch(batch.as_ptr(), 10) };
            }
            batch.iter().for_each(|message| twin.handle(message));
            engine_flush();
            assert_eq!(drain(), std::mem::take(&mut twin.reports), "seed {seed}");
            for price in -7..=6 {
                let depths = [0, 1].map(|side| engine_query_depth_at(price, side));
                let answers = (engine_query_best_bid(), engine_query_best_ask(), depths);
                assert_eq!(answers, twin.answers(price), "seed {seed}");
            }
        }
        engine_shutdown();
    }
}

#[test]
fn an_engine_with_its_own_transport_reports_what_a_slow_book_does() {
    let transport = engine_get_transport();
    // SAFETY: it is a transport, and the engine's own.
    let Transport {
        create,
        drain,
        destroy,
        ..
    } = unsafe { *transport };
    let handle = create(100);
    drive(transport, handle, || {
        let mut reports = vec![Report::default(); 200];
        // SAFETY: the handle is the transport's, and there is room for so many.
        let count = unsafe { drain(handle, reports.as_mut_ptr(), 200) };
        reports.truncate(count as usize);
        reports
    });
    // SAFETY: the engine is shut down.
    unsafe { destroy(handle) };
}

/// A transport that is full every other time.
#[derive(Default)]
struct Stubborn {
    reports: Vec<Report>,
    asked: u32,
}

extern "C" fn nothing_created(_: u32) -> *mut c_void {
    ptr::null_mut()
}

unsafe extern "C" fn push_at_the_second_time(handle: *mut c_void, report: *const Report) -> i32 {
    // SAFETY: the test passes its own list, and the engine a report.
    let (stubborn, report) = unsafe { (&mut *handle.cast::<Stubborn>(), *report) };
    stubborn.asked += 1;
    if stubborn.asked.is_multiple_of(2) {
        stubborn.reports.push(report);
        return 1;
    }
    0
}

unsafe extern "C" fn nothing_drained(_: *mut c_void, _: *mut Report, _: u32) -> u32 {
    0
}

unsafe extern "C" fn nothing_done(_: *mut c_void) {}

#[test]
fn an_engine_with_the_harness_s_queue_reports_the_same_and_waits_where_it_is_full() {
    let transport = Transport {
        create: nothing_created,
        push: push_at_the_second_time,
        drain: nothing_drained,
        flush: nothing_done,
        destroy: nothing_done,
    };
    let mut stubborn = Stubborn::default();
    let handle = &raw mut stubborn;
    drive(&raw const transport, handle.cast(), || {
        // SAFETY: the engine uses it only during its calls.
        std::mem::take(unsafe { &mut (*handle).reports })
    });
}
