//! Options that bound the work of the fast loop.

use super::{
    option::{Declaration, INTEGER, MILLISECONDS},
    values::{
        busy_poll, drain, farewell, put, slow_command, slow_request, waiting_room_places,
        waiting_room_rate,
    },
};

pub(super) const DRAIN_MS: Declaration = Declaration {
    path: "limits.drain_ms",
    flag: "drain-ms",
    help: "Time between SIGTERM and the closing of the doors, in milliseconds, 0 to 600000: meanwhile \
           /readyz answers 503, so that load balancers send clients elsewhere, and all are served. A \
           second SIGTERM ends it",
    default: Some("0"),
    example: "1",
    set: |config, text| put(&mut config.server.limits.drain, drain(text)),
    ..MILLISECONDS
};

pub(super) const FAREWELL_MS: Declaration = Declaration {
    path: "limits.farewell_ms",
    flag: "farewell-ms",
    help: "Time that clients have to take their answers once the doors are closed, in milliseconds, 1 \
           to 600000; then their connections are dropped",
    default: Some("5000"),
    example: "1",
    set: |config, text| {
        let limits = &mut config.server.limits;
        put(&mut limits.farewell, farewell(text))?;
        limits.http.farewell = limits.farewell;
        Ok(())
    },
    ..MILLISECONDS
};

pub(super) const SLOW_COMMAND_US: Declaration = Declaration {
    path: "limits.slow_command_us",
    flag: "slow-command-us",
    value: "MICROSECONDS",
    help: "Record commands in SLOWLOG that take this long to decide, in microseconds; 0 \
           records every command",
    default: Some("10000"),
    is_live: true,
    example: "0",
    set: |config, text| put(&mut config.server.limits.slow_command, slow_command(text)),
    ..INTEGER
};

pub(super) const SLOW_REQUEST_US: Declaration = Declaration {
    path: "limits.slow_request_us",
    flag: "slow-request-us",
    value: "MICROSECONDS",
    help: "Warn in the log of requests that take this long until their answers are sent, in \
           microseconds, with the parts of the time; 0 for none",
    default: Some("0"),
    is_live: true,
    example: "1",
    set: |config, text| put(&mut config.server.limits.slow_request, slow_request(text)),
    ..INTEGER
};

pub(super) const BUSY_POLL_US: Declaration = Declaration {
    path: "limits.busy_poll_us",
    flag: "busy-poll-us",
    value: "MICROSECONDS",
    help: "Busy-poll for this many microseconds before sleeping, 0 to 10000. Lowers \
           latency, uses CPU",
    default: Some("0"),
    is_live: true,
    example: "1",
    set: |config, text| put(&mut config.server.limits.busy_poll, busy_poll(text)),
    ..INTEGER
};

pub(super) const WAITING_ROOM_RATE: Declaration = Declaration {
    path: "waiting_room.rate",
    flag: "waiting-room-rate",
    value: "PER_SECOND",
    help: "Bookings and holds of rooms and seats that are let in each second; others get a place in \
           line. 0 lets all in",
    default: Some("0"),
    example: "100",
    set: |config, text| {
        put(
            &mut config.server.limits.waiting_room,
            waiting_room_rate(text),
        )
    },
    ..INTEGER
};

pub(super) const WAITING_ROOM_PLACES: Declaration = Declaration {
    path: "waiting_room.places",
    flag: "waiting-room-places",
    value: "NUMBER",
    help: "Places in line that one principal may have, 1 to 100000. A server without keys has one \
           principal and no such bound",
    default: Some("10000"),
    example: "1",
    set: |config, text| {
        put(
            &mut config.server.limits.waiting_room_places,
            waiting_room_places(text),
        )
    },
    ..INTEGER
};
