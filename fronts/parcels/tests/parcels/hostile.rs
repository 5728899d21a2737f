//! Whatever a peer says in well-formed parcels, nobody panics, and the machine stays sound.

use proptest::prelude::*;
use turnstile_travel::{
    Bill, Body, Command, CustomerId, Desk, Desks, Done, Finding, Item, Operation, Order, Outcome,
    Parcel, Report, Request, Say, Settings, Step, Stock, Travel, TravelRoles, Trip, Vote, Xid,
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// A machine of a process that plays this, told of its start.
struct Process {
    travel: Travel,
    position: u64,
}

impl Process {
    fn of(roles: TravelRoles) -> Self {
        let mut process = Self {
            travel: Travel::empty(),
            position: 0,
        };
        let settings = Settings {
            roles,
            ..Settings::FIRST
        };
        process.apply(&Command::Configure(settings));
        process.apply(&Command::Recover);
        process
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(self.position),
            principal: &Principal::local(),
        };
        self.travel.apply(&context, command)
    }

    /// Takes what a peer says next on the line of a desk, which acknowledges so much.
    fn hear(&mut self, desk: Desk, received: u64, body: Body) {
        let greeting = self.travel.greeting(desk);
        let parcel = Parcel {
            desk,
            life: 1,
            peer_life: greeting.life,
            number: greeting.received + 1,
            received,
            body,
        };
        let outcome = self.apply(&Command::Deliver(parcel));
        assert_eq!(outcome, Outcome::Done(Done::Delivered));
        assert_eq!(self.travel.check(), Ok(()));
    }
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![0..3_u32, Just(u32::MAX)]
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![Just(Item::Flight(1)), Just(Item::Flight(i32::MIN))]
}

fn customer() -> impl Strategy<Value = CustomerId> {
    prop_oneof![Just(CustomerId(1)), Just(CustomerId(i32::MAX))]
}

fn xid() -> impl Strategy<Value = Xid> {
    prop_oneof![(0..4_u64).prop_map(Xid), Just(Xid(u64::MAX))]
}

fn items<T: Clone + std::fmt::Debug>(
    with: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<(Item, T)>> {
    prop::collection::vec((item(), with), 0..3)
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (item(), count(), count()).prop_map(|(item, count, price)| Operation::Add {
            item,
            count,
            price
        }),
        item().prop_map(|item| Operation::Delete { item }),
        prop::collection::vec(item(), 0..3).prop_map(|items| Operation::Take { items }),
        items(count()).prop_map(|items| Operation::GiveBack { items }),
        prop::option::of(customer()).prop_map(|customer| Operation::AddCustomer { customer }),
        customer().prop_map(|customer| Operation::RemoveCustomer { customer }),
        prop::option::of(customer()).prop_map(|after| Operation::Summarize { after }),
        (customer(), items(count()))
            .prop_map(|(customer, items)| Operation::Note { customer, items }),
        (customer(), xid(), prop::collection::vec(item(), 0..3)).prop_map(
            |(customer, since, items)| Operation::Strike {
                customer,
                since,
                items
            }
        ),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let order = prop_oneof![
        6 => (any::<bool>(), operation())
            .prop_map(|(first, operation)| Order::Operate { first, operation }),
        1 => operation().prop_map(|operation| Order::Finish { operation }),
        1 => Just(Order::Prepare),
        1 => Just(Order::Commit),
        1 => Just(Order::CommitAlone),
        1 => Just(Order::Abort),
        1 => Just(Order::Forget),
    ];
    (xid(), order).prop_map(|(xid, order)| Request { xid, order })
}

fn finding() -> impl Strategy<Value = Finding> {
    prop_oneof![
        Just(Finding::Added),
        count().prop_map(|free| Finding::Stock(Some(Stock {
            free,
            reserved: free,
            price: free
        }))),
        items(count()).prop_map(Finding::Taken),
        Just(Finding::GivenBack),
        customer().prop_map(Finding::Customer),
        items(count()).prop_map(Finding::Had),
        (customer(), any::<bool>()).prop_map(|(customer, more)| {
            let lines = Vec::new();
            let bills = vec![Bill { customer, lines }];
            Finding::Bills { bills, more }
        }),
        xid().prop_map(|since| Finding::Noted { since }),
    ]
}

fn report() -> impl Strategy<Value = Report> {
    let say = prop_oneof![
        6 => finding().prop_map(Say::Found),
        2 => (xid(), prop::collection::vec(xid(), 0..3))
            .prop_map(|(holder, before)| Say::Waits { holder, before }),
        1 => Just(Say::Gone),
        1 => Just(Say::Voted(Vote::Yes)),
        1 => Just(Say::Voted(Vote::ReadOnly)),
        1 => Just(Say::Voted(Vote::No)),
        2 => any::<bool>().prop_map(|committed| Say::Ended { committed }),
    ];
    (xid(), say).prop_map(|(xid, say)| Report { xid, say })
}

fn desk() -> impl Strategy<Value = Desk> {
    prop::sample::select(Desk::ALL.to_vec())
}

/// What a client asks meanwhile.
fn command() -> impl Strategy<Value = Command> {
    let step = prop_oneof![
        item().prop_map(|item| Step::Query { item }),
        customer().prop_map(|customer| Step::DeleteCustomer { customer }),
        (customer(), item()).prop_map(|(customer, item)| Step::Reserve {
            customer,
            trip: Trip::of(item)
        }),
        Just(Step::Summary),
        Just(Step::Commit),
    ];
    prop_oneof![
        1 => Just(Command::Start),
        3 => (xid(), step).prop_map(|(xid, step)| Command::Within { xid, step }),
        1 => (customer(), item()).prop_map(|(customer, item)| Command::Book {
            customer,
            trip: Trip::of(item),
            hold_ms: Some(5)
        }),
    ]
}

proptest! {
    #[test]
    fn a_desk_stays_sound_whatever_its_middleware_asks(
        requests in prop::collection::vec((desk(), any::<u64>(), request()), 1..60),
    ) {
        let mut process = Process::of(TravelRoles { coordinator: false, desks: Desks::ALL });
        for (desk, received, request) in requests {
            process.hear(desk, received, Body::Request(Some(request)));
        }
    }

    #[test]
    fn the_middleware_stays_sound_whatever_its_desks_say(
        asked in prop::collection::vec((command(), desk(), any::<u64>(), report()), 1..60),
    ) {
        let mut process = Process::of(TravelRoles { coordinator: true, desks: Desks::NONE });
        process.apply(&Command::Start);
        for (command, desk, received, report) in asked {
            process.apply(&command);
            process.hear(desk, received, Body::Report(Some(report)));
        }
    }
}
