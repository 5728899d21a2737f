//! The commands of travel.

use super::{
    Action, Argument, KEY, Kind, READ, Syntax, WRITE, argument, container, integer, multiple,
    option, optional, text, word,
};
use crate::travel::Verb;

const XID: Argument = integer("xid");
const CUSTOMER: Argument = integer("customer");
const LOCATOR: Argument = text("locator");
const ITEM: Argument = argument(
    "item",
    Kind::OneOf(&[
        text("flight-NUMBER"),
        text("car-LOCATION"),
        text("room-LOCATION"),
    ]),
);
const ITEMS: Argument = multiple(ITEM);
const DESK: Argument = argument(
    "desk",
    Kind::OneOf(&[
        word("flights", "flights"),
        word("cars", "cars"),
        word("rooms", "rooms"),
        word("customers", "customers"),
    ]),
);
const STATE: Argument = option(
    "STATE",
    argument(
        "state",
        Kind::OneOf(&[
            word("active", "active"),
            word("waiting", "waiting"),
            word("prepared", "prepared"),
            word("in-doubt", "in-doubt"),
        ]),
    ),
);
const DECISION: Argument = argument(
    "decision",
    Kind::OneOf(&[word("commit", "COMMIT"), word("abort", "ABORT")]),
);
const COUNT: Argument = option("COUNT", integer("count"));

const fn service(
    verb: Verb,
    arguments: &'static [Argument],
    flags: &'static [&'static str],
    summary: &'static str,
) -> Syntax {
    Syntax {
        name: verb.name(),
        summary,
        group: "travel",
        arguments,
        flags,
        action: Some(Action::Travel(verb)),
        subcommands: &[],
    }
}

/// Every command of travel. A step of a transaction is a write, also where it only reads: it takes
/// locks.
pub(super) const COMMANDS: [Syntax; 19] = [
    service(
        Verb::Book,
        &[
            CUSTOMER,
            ITEMS,
            option("HOLD", integer("milliseconds")),
            KEY,
        ],
        WRITE,
        "Books a trip, all or nothing; HOLD keeps it so long only, unless it is confirmed",
    ),
    service(
        Verb::Confirm,
        &[LOCATOR, KEY],
        WRITE,
        "Makes a held itinerary a booked one",
    ),
    service(
        Verb::Cancel,
        &[LOCATOR, KEY],
        WRITE,
        "Gives everything of an itinerary back",
    ),
    service(Verb::Itinerary, &[LOCATOR], READ, "Shows one itinerary"),
    service(
        Verb::Customer,
        &[CUSTOMER],
        READ,
        "Shows what a customer has and owes, as it is committed",
    ),
    service(
        Verb::Items,
        &[DESK, option("AFTER", ITEM), COUNT],
        READ,
        "Lists what a desk sells, as it is committed",
    ),
    service(Verb::Totals, &[], READ, "How much there is of everything"),
    service(
        Verb::Start,
        &[KEY],
        WRITE,
        "Starts a transaction; it ends by itself when nothing is asked of it for long",
    ),
    service(
        Verb::Add,
        &[XID, ITEM, integer("count"), integer("price"), KEY],
        WRITE,
        "Adds to what there is of an item; a price of 0 leaves the price as it is",
    ),
    service(
        Verb::Delete,
        &[XID, ITEM, KEY],
        WRITE,
        "Removes an item of which nothing is reserved",
    ),
    service(
        Verb::Query,
        &[XID, ITEM],
        WRITE,
        "Shows what there is of an item, and keeps it so until the transaction ends",
    ),
    service(
        Verb::AddCustomer,
        &[XID, optional(CUSTOMER), KEY],
        WRITE,
        "Adds a customer, with a number of its own or a new one",
    ),
    service(
        Verb::DeleteCustomer,
        &[XID, CUSTOMER, KEY],
        WRITE,
        "Removes a customer and gives back everything it has",
    ),
    service(
        Verb::QueryCustomer,
        &[XID, CUSTOMER],
        WRITE,
        "Shows what a customer has, and keeps it so until the transaction ends",
    ),
    service(
        Verb::Reserve,
        &[XID, CUSTOMER, ITEMS, KEY],
        WRITE,
        "Reserves all of these items for a customer, or none",
    ),
    service(
        Verb::Summary,
        &[XID],
        WRITE,
        "Shows what every customer has, and keeps it so until the transaction ends",
    ),
    service(Verb::Commit, &[XID, KEY], WRITE, "Commits a transaction"),
    service(
        Verb::Abort,
        &[XID, KEY],
        WRITE,
        "Aborts a transaction, also while it waits",
    ),
    container(
        "travel.tx",
        "travel",
        &[
            service(
                Verb::TxList,
                &[STATE, option("AFTER", XID), COUNT],
                READ,
                "Lists open transactions: where each stands, and for whom it waits",
            ),
            service(
                Verb::TxShow,
                &[XID],
                READ,
                "Shows one transaction: what it locks, what it wants, who has that",
            ),
            service(
                Verb::TxResolve,
                &[DESK, XID, DECISION, KEY],
                WRITE,
                "Decides by hand, at one desk, a transaction that waits for its decision",
            ),
        ],
        "What an operator may ask about transactions",
    ),
];
