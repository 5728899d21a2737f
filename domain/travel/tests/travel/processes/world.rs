//! The processes, their clients, and everything between them.

mod playing;

use turnstile_travel::{
    Answer, Body, Command, CustomerId, Desk, Desks, Done, Outcome, Parcel, Query, Refusal, Stage,
    Step, TransactionState, TransactionView, TravelRoles, Xid,
};
use turnstile_types::{Machine, Principal, Timestamp, hash_of};

use super::{
    bookings::Bookings,
    clients::{Client, Dice, ITEMS, OneCommand, Story, Waits, choose, some_item},
    node::{Node, Owed},
    serial,
};
use crate::scenery::{add, add_customer, within};

pub(super) use playing::Play;

pub(super) struct World {
    seed: u64,
    faults: bool,
    /// Whether trips in one command are asked for more often than anything else.
    mostly_books: bool,
    dice: Dice,
    now: u64,
    /// Counts everything that happens.
    moment: u64,
    /// The coordinator, then the desks.
    nodes: Vec<Node>,
    network: Vec<Parcel>,
    clients: Vec<Client>,
    bookings: Bookings,
    stories: Vec<Story>,
}

impl World {
    /// Each role in a process of its own.
    pub(super) fn new(seed: u64, faults: bool) -> Self {
        let coordinator = TravelRoles {
            coordinator: true,
            desks: Desks::NONE,
        };
        let roles = [coordinator].into_iter().chain(Desk::ALL.map(Self::alone));
        Self::of(roles.collect(), seed, faults)
    }

    const fn alone(desk: Desk) -> TravelRoles {
        TravelRoles {
            coordinator: false,
            desks: Desks::only(desk),
        }
    }

    /// Each role in a process of its own, and clients who book trips in one command.
    pub(super) fn of_bookers(seed: u64) -> Self {
        Self {
            mostly_books: true,
            ..Self::new(seed, true)
        }
    }

    /// Everybody in one process.
    pub(super) fn one_process(seed: u64, faults: bool) -> Self {
        Self::of(vec![TravelRoles::ALL], seed, faults)
    }

    /// The coordinator with two of the desks, and the others alone.
    pub(super) fn three_processes(seed: u64, faults: bool) -> Self {
        let mut desks = Desks::only(Desk::Flights);
        desks.insert(Desk::Customers);
        let first = TravelRoles {
            coordinator: true,
            desks,
        };
        let roles = vec![first, Self::alone(Desk::Cars), Self::alone(Desk::Rooms)];
        Self::of(roles, seed, faults)
    }

    fn of(roles: Vec<TravelRoles>, seed: u64, faults: bool) -> Self {
        Self {
            seed,
            faults,
            mostly_books: false,
            dice: Dice::new(seed),
            now: 1_000,
            moment: 0,
            nodes: roles.into_iter().map(Node::new).collect(),
            network: Vec::new(),
            clients: (0..4).map(|_| Client::new()).collect(),
            bookings: Bookings::default(),
            stories: Vec::new(),
        }
    }

    /// The process in which a desk is.
    fn host(&self, desk: Desk) -> usize {
        let at = self
            .nodes
            .iter()
            .position(|node| node.roles().desks.contains(desk));
        at.unwrap()
    }

    /// Where a parcel goes.
    fn receiver(&self, parcel: &Parcel) -> usize {
        match parcel.body {
            Body::Report(_) => 0,
            Body::Request(_) => self.host(parcel.desk),
        }
    }

    /// Everybody meets, and there is something to sell.
    pub(super) fn set_out(&mut self) {
        self.settle();
        self.command(&Command::Start);
        let mut steps: Vec<Step> = ITEMS.iter().map(|item| add(item, 2, 100)).collect();
        steps.extend([add_customer(0), add_customer(1)]);
        for step in steps {
            self.command(&within(1, step));
        }
        assert_eq!(
            self.command(&within(1, Step::Commit)),
            Outcome::Done(Done::Committed)
        );
        self.settle();
    }

    /// Lets everything arrive that is sent, but for one process that nobody reaches.
    pub(super) fn calm(&mut self, away: usize) {
        loop {
            for node in (0..self.nodes.len()).filter(|node| *node != away) {
                self.nodes[node].sync();
                self.flush(node);
            }
            if self.network.is_empty() {
                return;
            }
            for parcel in std::mem::take(&mut self.network) {
                let to = self.receiver(&parcel);
                if to != away {
                    self.nodes[to].apply(self.now, &Command::Deliver(parcel));
                }
            }
        }
    }

    /// A client asks for a step while one process is away.
    pub(super) fn try_step(&mut self, step: Step, away: usize) {
        let position = self.nodes[0].position() + 1;
        self.ask_for(0, step, position);
        self.calm(away);
    }

    /// Time passes while one process is away.
    pub(super) fn wait(&mut self, ms: u64, away: usize) {
        self.now += ms;
        for node in (0..self.nodes.len()).filter(|node| *node != away) {
            self.resend(node);
        }
        self.calm(away);
        for node in (0..self.nodes.len()).filter(|node| *node != away) {
            self.nodes[node].tick(self.now);
        }
        self.calm(away);
    }

    pub(super) fn restart(&mut self, node: usize) {
        self.nodes[node].crash(self.now, |unsynced| unsynced);
    }

    /// The same, and what was not synced is lost.
    pub(super) fn restart_without_unsynced(&mut self, node: usize) {
        let last = self.nodes[node].crash(self.now, |_unsynced| 0);
        if node == 0 {
            self.bookings.lose_after(last);
        }
        self.network.clear();
    }

    /// Takes what the coordinator asks of one desk there, and the other way what it says.
    pub(super) fn deliver_requests(&mut self, node: usize) {
        self.flush(0);
        for from in [0, node] {
            let sent = self.network.extract_if(.., |parcel| {
                matches!(parcel.body, Body::Request(_)) == (from == 0)
            });
            let sent: Vec<Parcel> = sent.collect();
            for parcel in sent {
                let to = self.receiver(&parcel);
                self.nodes[to].apply(self.now, &Command::Deliver(parcel));
                self.flush(to);
            }
        }
    }

    /// How the client's last transaction ended for it.
    pub(super) fn last_told(&self) -> Option<&Outcome> {
        self.stories.last()?.told.as_ref()
    }

    /// What waits for its decision at a desk.
    pub(super) fn in_doubt(&self, desk: Desk) -> Vec<Xid> {
        let query = Query::Transactions {
            after: Xid(0),
            stage: Some(Stage::InDoubt),
            limit: 10,
        };
        let node = &self.nodes[self.host(desk)];
        match node
            .travel
            .query(Timestamp(self.now), &Principal::local(), &query)
        {
            Answer::Transactions { transactions, .. } => {
                transactions.iter().map(|view| view.xid).collect()
            }
            other => panic!("another answer: {other:?}"),
        }
    }

    /// A transaction as a process sees it.
    pub(super) fn view(&self, node: usize, xid: Xid) -> Option<TransactionView> {
        let now = Timestamp(self.now);
        let query = Query::Transaction { xid };
        match self.nodes[node]
            .travel
            .query(now, &Principal::local(), &query)
        {
            Answer::Transaction(view) => view,
            other => panic!("another answer: {other:?}"),
        }
    }

    pub(super) fn node(&mut self, node: usize) -> (&mut Node, u64) {
        (&mut self.nodes[node], self.now)
    }

    /// Does a command on a network that works, and waits for its answer.
    fn command(&mut self, command: &Command) -> Outcome {
        let outcome = self.nodes[0].apply(self.now, command);
        let Outcome::Waiting { ticket } = outcome else {
            return outcome;
        };
        self.settle();
        match self.nodes[0].travel.late_answer(ticket) {
            turnstile_travel::LateAnswer::Given(outcome) => outcome,
            other => panic!("no answer to {command:?}: {other:?}"),
        }
    }

    /// Lets everything arrive that is under way.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 3 {
            for node in 0..self.nodes.len() {
                self.nodes[node].sync();
                self.resend(node);
            }
            let said = self.network.iter().any(|parcel| parcel.number > 0);
            quiet = if said { 0 } else { quiet + 1 };
            for parcel in std::mem::take(&mut self.network) {
                let to = self.receiver(&parcel);
                self.nodes[to].apply(self.now, &Command::Deliver(parcel));
            }
        }
    }

    pub(super) fn step(&mut self) {
        self.moment += 1;
        let node = self.dice.roll(self.nodes.len());
        match self.dice.roll(30) {
            0 => self.book(),
            1..=3 if self.mostly_books => self.book(),
            4 if self.mostly_books => self.cancel(),
            1..=5 => self.ask(),
            6..=19 => self.deliver(),
            20..=26 => {
                self.nodes[node].sync();
                self.flush(node);
            }
            27 => self.resend(node),
            28 => self.pass(),
            _ => {
                if self.faults && self.dice.one_in(3) {
                    self.crash(node);
                }
            }
        }
        if self.mostly_books && self.nodes[0].is_ahead() && self.dice.one_in(4) {
            self.crash(0);
        }
        self.bookings.look(&self.nodes[0].events, self.moment);
        if self.moment.is_multiple_of(20) {
            for node in &self.nodes {
                assert_eq!(Machine::check(&node.travel), Ok(()), "seed {}", self.seed);
            }
        }
    }

    /// A client that waits for nothing goes on.
    fn ask(&mut self) {
        let at = self.dice.roll(self.clients.len());
        let position = self.nodes[0].position() + 1;
        if self.clients[at].waits == Waits::Nothing {
            let step = choose(&mut self.dice);
            self.ask_for(at, step, position);
        }
    }

    /// Somebody books a trip in one command.
    fn book(&mut self) {
        let customer = CustomerId(i32::try_from(self.dice.roll(3)).unwrap());
        let count = 1 + self.dice.roll(3);
        let items = (0..count).map(|_| some_item(&mut self.dice)).collect();
        self.book_for(customer, items);
    }

    /// Somebody cancels what was booked in one command.
    fn cancel(&mut self) {
        let position = self.nodes[0].position() + 1;
        let number = self.dice.roll(100);
        if let Some(command) = self.bookings.cancel(number, position) {
            self.nodes[0].apply(self.now, &command);
            self.flush(0);
        }
    }

    fn book_for(&mut self, customer: CustomerId, items: Vec<&'static str>) {
        let position = self.nodes[0].position() + 1;
        let command = self.bookings.ask(customer, items, position);
        self.nodes[0].apply(self.now, &command);
        self.flush(0);
    }

    fn ask_for(&mut self, client: usize, step: Step, position: u64) {
        let command = self.clients[client].ask(step, position, self.moment);
        self.nodes[0].apply(self.now, &command);
        self.flush(0);
    }

    fn deliver(&mut self) {
        if self.network.is_empty() {
            return;
        }
        let ordered = !self.faults;
        let at = if ordered {
            0
        } else {
            self.dice.roll(self.network.len())
        };
        let parcel = if self.faults && self.dice.one_in(10) {
            self.network[at].clone()
        } else {
            self.network.remove(at)
        };
        if self.faults && self.dice.one_in(15) {
            return;
        }
        let to = self.receiver(&parcel);
        self.nodes[to].apply(self.now, &Command::Deliver(parcel));
        self.flush(to);
    }

    fn flush(&mut self, node: usize) {
        for owed in self.nodes[node].flush() {
            match owed {
                Owed::Parcel(parcel) => self.network.push(parcel),
                Owed::Answer(position, outcome) if node == 0 => self.told(position.0, &outcome),
                Owed::Answer(..) => {}
            }
        }
    }

    fn told(&mut self, position: u64, outcome: &Outcome) {
        self.bookings.hear(position, outcome);
        for client in &mut self.clients {
            self.stories.extend(client.hear(position, outcome));
        }
    }

    fn resend(&mut self, node: usize) {
        for desk in self.nodes[node].lines().iter() {
            let parcels = self.nodes[node].resend(desk);
            self.network.extend(parcels);
        }
        self.flush(node);
    }

    fn pass(&mut self) {
        self.now += u64::try_from(self.dice.roll(200)).unwrap();
        for node in 0..self.nodes.len() {
            self.nodes[node].tick(self.now);
            self.flush(node);
        }
    }

    fn crash(&mut self, node: usize) {
        let dice = &mut self.dice;
        let last = self.nodes[node].crash(self.now, |unsynced| dice.roll(unsynced + 1));
        if node == 0 {
            self.bookings.lose_after(last);
            let lost = self.clients.iter_mut().filter_map(Client::lose);
            self.stories.extend(lost);
        }
    }

    /// The network works again, nobody crashes, and clients stop asking.
    pub(super) fn heal(&mut self) {
        self.settle();
        for _ in 0..8 {
            self.now += 1_000;
            for node in 0..self.nodes.len() {
                self.nodes[node].tick(self.now);
            }
            self.settle();
        }
        self.bookings.look(&self.nodes[0].events, self.moment);
        self.stories.extend(self.bookings.stories());
        let open = self.clients.iter_mut().filter_map(Client::hang_up);
        self.stories.extend(open);
    }

    fn ask_coordinator(&self, query: &Query) -> Answer {
        let now = Timestamp(self.now);
        self.nodes[0].travel.query(now, &Principal::local(), query)
    }

    /// Nothing is open anywhere, and what is reserved is what is billed.
    pub(super) fn assert_agreement(&self) {
        let seed = self.seed;
        let all = Query::Transactions {
            after: Xid(0),
            stage: None,
            limit: 10,
        };
        assert_eq!(
            self.ask_coordinator(&all),
            Answer::Transactions {
                transactions: Vec::new(),
                next: None
            },
            "seed {seed}"
        );
        for node in &self.nodes {
            let roles = node.roles();
            assert!(
                node.travel.is_at_rest(),
                "seed {seed}: {roles:?} work on something"
            );
            assert_eq!(
                Machine::check(&node.travel),
                Ok(()),
                "seed {seed}: {roles:?}"
            );
        }
    }

    /// What is committed has the answers and leaves the state that it would have had one after
    /// the other, in the order in which all locks were held. Returns how many there are.
    pub(super) fn assert_serializable(&self) -> usize {
        let mut committed: Vec<&Story> = Vec::new();
        for story in &self.stories {
            let view = self.ask_coordinator(&Query::Transaction { xid: story.xid });
            let Answer::Transaction(view) = view else {
                panic!("another answer: {view:?}");
            };
            let is_committed = view.is_some_and(|view| view.state == TransactionState::Committed);
            match &story.told {
                Some(Outcome::Done(Done::Committed)) => {
                    assert!(
                        is_committed,
                        "seed {}: told and not kept: {story:?}",
                        self.seed
                    );
                }
                Some(Outcome::Refused(Refusal::Aborted(_) | Refusal::UnknownTransaction)) => {
                    assert!(
                        !is_committed,
                        "seed {}: told otherwise: {story:?}",
                        self.seed
                    );
                }
                Some(Outcome::Refused(Refusal::InDoubt(_))) | None => {}
                other => panic!("seed {}: told {other:?}", self.seed),
            }
            if is_committed {
                committed.push(story);
            }
        }
        committed.sort_by_key(|story| story.locked);
        let desks = Desk::ALL.map(|desk| &self.nodes[self.host(desk)].travel);
        serial::assert_same(self.seed, &committed, &desks);
        committed.len()
    }

    /// How many trips were given back by one command.
    pub(super) fn cancelled(&self) -> usize {
        let commands = self
            .stories
            .iter()
            .filter_map(|story| story.command.as_ref());
        let cancels = |command: &&OneCommand| matches!(command, OneCommand::Cancel { .. });
        commands.filter(cancels).count()
    }

    pub(super) fn hashes(&self) -> Vec<u128> {
        self.nodes
            .iter()
            .map(|node| hash_of(&node.travel))
            .collect()
    }
}
