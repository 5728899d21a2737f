//! A route of the middleware and one of a desk, with logical time and a wire that is a list of bytes.

use turnstile_parcels::{Frames, Message, MessageScan, put_opening};
use turnstile_travel::{Command, Desks, Parcel, Settings, Step, TravelRoles, Xid};
use turnstile_types::{Context, Machine as _, Position, Principal, Timestamp};

use super::*;

const DESK: Desk = Desk::Flights;

/// One process: its machine, and its end of the line.
struct End {
    travel: Travel,
    fault_points: FaultPoints,
    route: Route,
    position: u64,
}

impl End {
    fn of(roles: TravelRoles) -> Self {
        let mut end = Self {
            travel: Travel::empty(),
            fault_points: FaultPoints::new(false, None),
            route: Route::new(None),
            position: 0,
        };
        let settings = Settings {
            roles,
            ..Settings::FIRST
        };
        end.apply(&Command::Configure(settings));
        end.apply(&Command::Recover);
        assert_eq!(end.route.meet(7), None);
        end
    }

    fn apply(&mut self, command: &Command) {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(1),
            principal: &Principal::local(),
        };
        self.travel.apply(&context, command);
    }

    /// What it sends at this time, with this room.
    fn sends(&mut self, now: Instant, room: usize) -> Vec<Parcel> {
        let mut out = Vec::new();
        put_opening(&mut out);
        let watched = (&self.travel, &mut self.fault_points);
        let put = self.route.put(watched, (DESK, now), room, &mut out);
        let parcels = read(&out);
        assert_eq!(u64::try_from(parcels.len()).unwrap(), put.count);
        parcels
    }

    /// The numbers of what it sends.
    fn numbers(&mut self, now: Instant) -> Vec<u64> {
        let parcels = self.sends(now, usize::MAX);
        parcels.iter().map(|parcel| parcel.number).collect()
    }

    fn hears(&mut self, parcels: Vec<Parcel>) {
        for parcel in parcels {
            self.apply(&Command::Deliver(parcel));
        }
    }

    /// Asks something of the desk.
    fn asks(&mut self) {
        self.apply(&Command::Start);
        let item = turnstile_travel::Item::Flight(1);
        let step = Step::Query { item };
        let xid = Xid(self.travel.totals().xids);
        self.apply(&Command::Within { xid, step });
    }
}

fn read(mut bytes: &[u8]) -> Vec<Parcel> {
    let mut frames = Frames::default();
    let mut parcels = Vec::new();
    while let MessageScan::Message { message, consumed } = frames.next(bytes).unwrap() {
        let Message::Parcel(parcel) = message else {
            panic!("another message: {message:?}");
        };
        parcels.push(parcel);
        bytes = &bytes[consumed..];
    }
    parcels
}

/// Two ends that have met, and the time.
fn ends() -> (End, End, Instant) {
    let mut middleware = End::of(TravelRoles {
        coordinator: true,
        desks: Desks::NONE,
    });
    let mut desk = End::of(TravelRoles {
        coordinator: false,
        desks: Desks::only(DESK),
    });
    let now = Instant::now();
    for _ in 0..3 {
        let parcels = middleware.sends(now, usize::MAX);
        desk.hears(parcels);
        let parcels = desk.sends(now, usize::MAX);
        middleware.hears(parcels);
    }
    assert_eq!(middleware.travel.greeting(DESK).peer_life, 1);
    assert_eq!(desk.travel.greeting(DESK).peer_life, 1);
    assert_eq!(
        (middleware.numbers(now), desk.numbers(now)),
        (vec![], vec![])
    );
    (middleware, desk, now)
}

/// A third of a lifetime, and a little.
const PERIOD: Duration = Duration::from_millis(5_001);

#[test]
fn what_is_new_is_sent_once_and_all_that_is_not_acknowledged_on_a_new_connection() {
    let (mut middleware, mut desk, now) = ends();
    middleware.asks();
    assert_eq!(middleware.numbers(now), [1]);
    middleware.asks();
    assert_eq!(middleware.numbers(now), [2]);
    assert_eq!(middleware.numbers(now), [0; 0]);

    middleware.route.lose(now);
    assert_eq!(middleware.route.met(), None);
    assert_eq!(middleware.route.meet(8), None);
    let again = middleware.sends(now, usize::MAX);
    assert_eq!(again.len(), 2);
    desk.hears(again);
    middleware.hears(desk.sends(now, usize::MAX));
    assert_eq!(middleware.travel.unacknowledged(DESK), 0);
    // Nothing is left but to greet.
    middleware.route.lose(now);
    assert_eq!(middleware.route.meet(9), None);
    assert_eq!(middleware.numbers(now), [0]);
}

#[test]
fn the_middleware_greets_in_time_and_a_desk_when_it_owes_an_acknowledgement() {
    let (mut middleware, mut desk, now) = ends();
    let later = now + PERIOD;
    assert_eq!(desk.numbers(later), [0; 0]);
    assert_eq!(middleware.numbers(later), [0]);
    assert_eq!(middleware.numbers(later), [0; 0]);

    middleware.asks();
    desk.hears(middleware.sends(later, usize::MAX));
    middleware.hears(desk.sends(later, usize::MAX));
    middleware.apply(&Command::Abort { xid: Xid(1) });
    desk.hears(middleware.sends(later, usize::MAX));
    assert_eq!(middleware.travel.unacknowledged(DESK), 1);
    let acknowledged = desk.sends(later + PERIOD, usize::MAX);
    assert_eq!(acknowledged.len(), 1);
    middleware.hears(acknowledged);
    assert_eq!(middleware.travel.unacknowledged(DESK), 0);
}

#[test]
fn what_has_waited_through_a_period_for_its_acknowledgement_is_sent_again() {
    let (mut middleware, _desk, now) = ends();
    middleware.asks();
    assert_eq!(middleware.numbers(now), [1]);
    let first = now + PERIOD;
    assert_eq!(middleware.numbers(first), [0], "it may be on its way");
    middleware.asks();
    assert_eq!(middleware.numbers(first), [2]);
    assert_eq!(middleware.numbers(first + PERIOD), [1, 2]);
}

#[test]
fn no_more_is_put_on_a_connection_than_there_is_room_for() {
    let (mut middleware, _desk, now) = ends();
    for _ in 0..3 * POST_BATCH {
        middleware.asks();
    }
    let count = |parcels: Vec<Parcel>| parcels.len();
    assert_eq!(count(middleware.sends(now, 0)), 0);
    assert_eq!(count(middleware.sends(now, 1)), POST_BATCH);
    assert_eq!(count(middleware.sends(now, usize::MAX)), 2 * POST_BATCH);
}

#[test]
fn a_desk_that_is_away_is_dialed_more_and_more_rarely_until_it_is_met() {
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let mut route = Route::new(Some(address));
    let mut now = Instant::now();
    let mut rests = Vec::new();
    for _ in 0..8 {
        assert_eq!(route.dials(now), Some(address));
        route.lose(now);
        assert_eq!(route.dials(now), None);
        let rest = route.until_due(now).unwrap();
        rests.push(rest.as_millis());
        now += rest;
    }
    assert_eq!(rests, [10, 20, 40, 80, 160, 320, 500, 500]);
    assert_eq!(route.meet(3), None);
    assert_eq!(route.dials(now), None);
    assert_eq!(route.meet(4), Some(3));
    route.lose(now);
    assert_eq!(route.until_due(now), Some(Duration::from_millis(10)));
}
