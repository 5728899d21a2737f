//! The queries of travel and their answers.

use turnstile_chassis::{Cursor, Field, Fields, Kind, Operations, PAGE, PAGE_MAX, Visitor, Words};
use turnstile_types::Timestamp;

use crate::{
    AbortReason, Bill, CustomerId, Desk, Desks, Item, Locator, LockMode, Outcome, Resource, Stock,
    Xid, about::About,
};

/// The last transaction of the page before.
impl From<Cursor> for Xid {
    fn from(after: Cursor) -> Self {
        Self(after.0)
    }
}

/// One whole request that only reads. It reads what is committed, and needs no lock.
///
/// Of what is not durable it tells what a crash would abort, not what it would break: which transactions
/// are open, waiting or aborted, their late answers, and totals. A transaction is shown as committed, an
/// itinerary as booked or over, and an item with what a commit left of it, by records that promise
/// something, and such an answer waits for them; but a staged trip is shown as booked when all have voted,
/// and after a crash as in doubt and being booked until they have said so again. After a crash, a transaction that was shown may be
/// unknown, but its xid is not given again; a ticket may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words, Operations)]
#[operations(answers = Answer, right = read, about = About)]
pub enum Query {
    /// Shows one transaction: what it locks, what it wants, who has that.
    #[word("get_transaction")]
    Transaction { xid: Xid },
    /// Lists open transactions after this one, in order, at this stage or at any: where each stands, and
    /// for whom it waits.
    #[word("list_transactions")]
    Transactions {
        #[parameter(name = "cursor", read_as = Cursor, default = Xid(0))]
        after: Xid,
        #[parameter(name = "state")]
        stage: Option<Stage>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE.into())]
        limit: usize,
    },
    /// Shows one itinerary.
    #[word("get_itinerary")]
    #[operation(about = Itinerary(*locator))]
    Itinerary { locator: Locator },
    /// Lists what a desk sells after this item, in order, as it is committed.
    #[word("list_items")]
    #[operation(about = Public)]
    Items {
        desk: Desk,
        #[parameter(name = "cursor")]
        after: Option<Item>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE.into())]
        limit: usize,
    },
    /// Shows what a customer has and owes, as it is committed.
    #[word("get_customer")]
    #[operation(about = Customer(*customer))]
    Customer { customer: CustomerId },
    /// Shows how much there is of everything.
    #[word("get_totals")]
    #[operation(about = Public)]
    Totals,
}

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub enum Answer {
    Transaction(#[field(flatten)] Option<TransactionView>),
    Transactions {
        transactions: Vec<TransactionView>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Itinerary(#[field(flatten)] Option<ItineraryView>),
    Items {
        #[field(with = stocks)]
        items: Vec<(Item, Stock)>,
        /// Where the next page begins; not set on the last.
        next: Option<Item>,
    },
    Customer(#[field(flatten)] Option<Bill>),
    Totals(#[field(flatten)] Totals),
}

/// What there is of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct StockView {
    pub item: Item,
    #[field(flatten)]
    pub stock: Stock,
}

fn stocks(items: &[(Item, Stock)]) -> Vec<StockView> {
    let view = |&(item, stock)| StockView { item, stock };
    items.iter().map(view).collect()
}

/// How much there is, of the roles that are played here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Fields)]
pub struct Totals {
    /// Transactions that are not over.
    #[field(name = "open_transactions")]
    pub open: u64,
    /// Itineraries that stand, held ones among them.
    pub itineraries: u64,
    /// Flights, and towns with cars or rooms.
    pub items: u64,
    /// Customers.
    pub customers: u64,
    /// Numbers given to transactions, with those that restarts skipped.
    #[field(name = "xids_total")]
    pub xids: u64,
    /// Itineraries ever made.
    #[field(name = "booked_total")]
    pub booked: u64,
}

/// Where a transaction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TransactionState {
    /// It may be asked for more.
    Active,
    /// It waits for a lock.
    Waiting,
    /// Votes are being gathered.
    Preparing,
    /// Its only desk decides.
    Delegated,
    /// How it ends is known elsewhere, and no word comes: a desk here has voted yes and waits for
    /// the decision, its only desk decides and is silent, or a restart has found it staged and asks the
    /// desks for their votes.
    #[word("in-doubt")]
    InDoubt,
    /// Committed, and not every desk has said that it knows.
    Committing,
    Committed,
    Aborted(AbortReason),
}

/// Where an open transaction stands, as operators ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Stage {
    /// It may be asked for more.
    Active,
    /// It waits for a lock.
    Waiting,
    /// Its end has begun.
    Prepared,
    /// How it ends is not known here.
    #[word("in-doubt")]
    InDoubt,
}

impl Stage {
    pub const ALL: [Self; 4] = [Self::Active, Self::Waiting, Self::Prepared, Self::InDoubt];

    /// What such a word stands for, whatever the case of its letters.
    #[must_use]
    pub fn named(word: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|stage| stage.code().as_bytes().eq_ignore_ascii_case(word))
    }
}

impl TransactionState {
    /// None: it is over.
    #[must_use]
    pub const fn stage(self) -> Option<Stage> {
        match self {
            Self::Active => Some(Stage::Active),
            Self::Waiting => Some(Stage::Waiting),
            Self::Preparing | Self::Delegated | Self::Committing => Some(Stage::Prepared),
            Self::InDoubt => Some(Stage::InDoubt),
            Self::Committed | Self::Aborted(_) => None,
        }
    }
}

/// The stage that operators ask for, the state itself, which is finer, and why it was aborted.
impl Fields for TransactionState {
    fn visit(&self, visitor: &mut impl Visitor) {
        let stage = self.stage().map_or_else(|| self.code(), Stage::code);
        visitor.field("state", &stage);
        visitor.field("phase", &self.code());
        if let Self::Aborted(cause) = self {
            cause.visit(visitor);
        }
    }

    fn describe() -> Vec<Field> {
        const STATES: &[&str] = &[
            "active",
            "waiting",
            "prepared",
            "in-doubt",
            "committed",
            "aborted",
        ];
        let mut fields = vec![
            Field::new(
                "state",
                "`prepared`: its end has begun. `in-doubt`: how it ends is known elsewhere.",
                Kind::OneOf(STATES),
            ),
            Field::new(
                "phase",
                "The same, but `preparing`, `delegated` (its only desk decides) or `committing` in \
                 the place of `prepared`.",
                Kind::OneOf(Self::WORDS),
            ),
        ];
        fields.extend(<Option<AbortReason> as Fields>::describe());
        fields
    }
}

/// Who has what, and why something waits.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct TransactionView {
    pub xid: Xid,
    #[field(flatten)]
    pub state: TransactionState,
    /// Of the desks that are not played here, those that the coordinator knows of.
    pub touched: Desks,
    /// Desks whose word is missing.
    pub awaited: Desks,
    /// Who has what it waits for.
    #[field(name = "waits_for")]
    pub holder: Option<Xid>,
    /// Those who must end before it gets that, or one who waits before it.
    pub before: Vec<Xid>,
    /// When it is given up, as things are.
    #[field(name = "until")]
    pub deadline: Option<Timestamp>,
    /// What it has at the desks that are played here.
    pub branches: Vec<BranchView>,
}

/// A transaction at one desk.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct BranchView {
    pub desk: Desk,
    /// Whether the desk has voted yes, so that an operator may resolve it there.
    pub prepared: bool,
    /// How many locks it holds.
    pub held: u64,
    /// What it holds, in order of acquisition, up to a page of it.
    #[field(with = locks)]
    pub locks: Vec<(Resource, LockMode)>,
    /// What it waits for.
    #[field(name = "wants", with = lock)]
    pub wanted: Option<(Resource, LockMode)>,
}

/// Something that is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
struct LockView {
    /// An item, `customer-<number>`, or `customers`: all of them.
    what: Resource,
    /// `intent`: to change single ones of all.
    mode: LockMode,
}

fn locks(locks: &[(Resource, LockMode)]) -> Vec<LockView> {
    let view = |&(what, mode)| LockView { what, mode };
    locks.iter().map(view).collect()
}

fn lock(lock: &Option<(Resource, LockMode)>) -> Option<LockView> {
    lock.map(|(what, mode)| LockView { what, mode })
}

/// What became of a command that was told to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LateAnswer {
    Pending,
    Given(Outcome),
    /// It never waited, or it was answered so long ago that it is forgotten.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "state")]
pub enum ItineraryState {
    Booked,
    Held {
        until: Timestamp,
    },
    /// It is being cancelled.
    Releasing,
    /// A restart has not heard yet from all desks whether it was booked.
    Booking,
    /// It was cancelled or it expired, or it never came to be.
    Over,
}

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct ItineraryView {
    pub locator: Locator,
    #[field(flatten)]
    pub state: ItineraryState,
    /// None and no items when it is being booked or over.
    pub customer: Option<CustomerId>,
    /// What is reserved, each at the price when it was.
    #[field(flatten, with = reserved)]
    pub items: Vec<(Item, u32)>,
}

/// What is reserved, and what it costs together.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
struct Reserved {
    /// Of all its items.
    price: u64,
    items: Vec<ReservedItem>,
}

/// One reserved item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
struct ReservedItem {
    item: Item,
    /// When it was reserved.
    price: u32,
}

fn reserved(items: &[(Item, u32)]) -> Reserved {
    let prices = items.iter().map(|(_, price)| u64::from(*price));
    let view = |&(item, price)| ReservedItem { item, price };
    Reserved {
        price: prices.sum(),
        items: items.iter().map(view).collect(),
    }
}
