//! What every word of a problem means, where the page of documentation explains it: a problem's `type`
//! leads there.

use crate::problem::Code;

/// A word, the status that it comes with, and what it means.
type Meaning = (&'static str, u16, &'static str);

/// The codes that are no refusals of a service.
const PLAIN: [Code; 28] = [
    Code::InvalidRequest,
    Code::MalformedJson,
    Code::InvalidIdempotencyKey,
    Code::MalformedHead,
    Code::UnknownPath,
    Code::NoSuchPlayer,
    Code::MethodNotAllowed,
    Code::MisdirectedRequest,
    Code::RequestTimeout,
    Code::LengthRequired,
    Code::PreconditionFailed,
    Code::ForeignOrigin,
    Code::UpgradeRequired,
    Code::SessionFull,
    Code::BodyTooLarge,
    Code::HeadTooLarge,
    Code::UnsupportedMediaType,
    Code::KeyReused,
    Code::AnswerForgotten,
    Code::Overloaded,
    Code::TooManyStreams,
    Code::TooManyConnections,
    Code::ReadOnly,
    Code::Unavailable,
    Code::CommandTooLarge,
    Code::Unsupported,
    Code::OutcomeUnknown,
    Code::BackendBroken,
];

/// The refusals of the services. Each says its words, statuses and titles itself, with its data; here
/// they are once more, without any.
const REFUSED: [(&str, &[Meaning]); 4] = [
    ("Rooms", ROOMS),
    ("Exchange", EXCHANGE),
    ("Games", GAMES),
    ("Travel", TRAVEL),
];

const ROOMS: &[Meaning] = &[
    ("already_confirmed", 409, "It is a booking already"),
    (
        "ended",
        410,
        "The booking was cancelled, or the hold is over",
    ),
    ("hold_ceiling", 409, "The hold cannot be extended so far"),
    ("hold_expired", 410, "The hold has expired"),
    ("hold_too_long", 409, "A hold does not last so long"),
    (
        "not_confirmed",
        409,
        "It is a hold, not a booking: release it",
    ),
    ("not_found", 404, "There never was such a booking or hold"),
    ("property_exists", 409, "The property exists"),
    ("room_exists", 409, "The room exists"),
    ("room_in_use", 409, "The room is booked or held"),
    ("sold_out", 409, "No room is free for all of these nights"),
    (
        "stop_sell",
        409,
        "The sale is stopped for some of these nights",
    ),
    (
        "too_many_holds",
        409,
        "The caller has as many open holds as it may have",
    ),
    (
        "too_many_rooms",
        409,
        "The property has as many rooms as it may have",
    ),
    ("unknown_property", 404, "There is no such property"),
    ("unknown_room", 404, "The property has no such room"),
    ("unknown_type", 404, "The property has no room of this type"),
    (
        "wrong_guest",
        403,
        "The id number is not the one that booked",
    ),
];

const EXCHANGE: &[Meaning] = &[
    ("account_exists", 409, "The account exists"),
    (
        "client_id_reused",
        409,
        "The client id belongs to another order of the account",
    ),
    ("date_over", 400, "The date of the order is over"),
    (
        "empty_band",
        400,
        "The low end of the band is above its high end",
    ),
    ("full", 409, "The exchange keeps no more of them"),
    (
        "insufficient_funds",
        409,
        "The account has not enough free cash",
    ),
    (
        "insufficient_shares",
        409,
        "The account has not enough free shares",
    ),
    (
        "market_must_not_wait",
        400,
        "A market order must not wait: it is ioc or fok",
    ),
    (
        "no_market",
        409,
        "A market order found nobody on the other side",
    ),
    ("not_fillable", 409, "The order would not be filled whole"),
    (
        "not_found",
        404,
        "There never was such an order, or it is forgotten",
    ),
    ("not_open", 409, "Nothing of the order is open"),
    ("not_yours", 403, "It is another account's order"),
    (
        "notional_limit",
        409,
        "The value is above the account's limit for one order",
    ),
    (
        "outside_band",
        409,
        "The price is outside the band of the symbol",
    ),
    (
        "quantity_limit",
        409,
        "The quantity is above the account's limit for one order",
    ),
    (
        "scale_too_large",
        400,
        "The two scales of a symbol are at most 8 together",
    ),
    ("symbol_exists", 409, "The symbol exists"),
    ("symbol_halted", 409, "Trading in the symbol is halted"),
    (
        "too_large",
        400,
        "The number is larger than the exchange keeps",
    ),
    (
        "too_many_digits",
        400,
        "The number has more digits after the point than are kept",
    ),
    (
        "too_many_open_orders",
        409,
        "The account has as many open orders as it may have",
    ),
    ("unknown_account", 404, "There is no such account"),
    ("unknown_symbol", 404, "There is no such symbol"),
    ("would_match", 409, "The order would match at once"),
    ("zero", 400, "The number must not be zero"),
];

const GAMES: &[Meaning] = &[
    ("false_claim", 409, "The move would not do what was claimed"),
    ("full", 409, "There are as many of them as there may be"),
    ("no_offer", 409, "The other does not offer a draw"),
    ("no_such_cell", 400, "The board has no such cell or column"),
    (
        "no_such_match",
        404,
        "There never was such a match, or it is forgotten",
    ),
    (
        "not_here",
        421,
        "This server does not play that part of games",
    ),
    ("not_seated", 403, "The player does not play in this match"),
    ("not_waiting", 409, "The player waits for nobody"),
    ("not_your_turn", 409, "It is the other's turn"),
    (
        "nothing_to_claim",
        409,
        "The other is neither away nor to move",
    ),
    ("offer_stands", 409, "The player offers a draw already"),
    ("out_of_order", 409, "A number before it has not come yet"),
    ("over", 410, "The match is over"),
    ("playing", 409, "The player is in a match"),
    ("same_player", 400, "Nobody plays with themselves"),
    (
        "scores_away",
        409,
        "The scores server has been away for too many results",
    ),
    (
        "stale",
        409,
        "The move was meant for another state than this one",
    ),
    ("taken", 409, "There is a stone, or the column is full"),
    ("too_early", 409, "The other has still time"),
    (
        "too_late",
        409,
        "Both have moved: the match can be resigned",
    ),
    ("unsound_settings", 400, "Games cannot be set so"),
    (
        "waiting",
        409,
        "The player waits for somebody, or for somebody else",
    ),
];

const TRAVEL: &[Meaning] = &[
    ("aborted", 409, "The transaction was aborted"),
    ("already_committed", 409, "The transaction is committed"),
    (
        "busy",
        409,
        "The last command is not answered yet, or the end is being decided",
    ),
    ("customer_exists", 409, "The customer exists"),
    ("full", 409, "There are as many of them as there may be"),
    ("hold_too_long", 400, "An itinerary is not held so long"),
    (
        "in_doubt",
        409,
        "Whether it is committed is known at one desk, which does not answer",
    ),
    ("item_reserved", 409, "Something of the item is reserved"),
    (
        "itinerary_over",
        410,
        "The itinerary was cancelled, or its hold is over",
    ),
    (
        "may_be_committed",
        409,
        "The trip may be committed by the votes of all desks",
    ),
    ("no_such_customer", 404, "There is no such customer"),
    ("no_such_item", 404, "There is no such item"),
    (
        "no_such_itinerary",
        404,
        "There never was such an itinerary",
    ),
    ("not_held", 409, "The itinerary is booked already"),
    (
        "not_here",
        421,
        "This server does not play that part of travel",
    ),
    (
        "not_in_doubt",
        409,
        "The transaction does not wait for a decision at the desk",
    ),
    (
        "not_reserved",
        409,
        "Less of the item is reserved than is to be given back",
    ),
    ("sold_out", 409, "Nothing of the item is free"),
    (
        "summary_too_long",
        409,
        "All bills together are too long for one answer",
    ),
    (
        "unknown_transaction",
        404,
        "There never was such a transaction, or it is forgotten",
    ),
    ("unsound_settings", 400, "Travel cannot be set so"),
];

/// Every word by the service that says it; the first ones are said by the door itself.
pub(crate) fn chapters() -> impl Iterator<Item = (&'static str, Vec<Meaning>)> {
    let plain = PLAIN.iter().map(meaning).collect();
    let refused = REFUSED.iter().map(|(of, words)| (*of, words.to_vec()));
    std::iter::once(("The door", plain)).chain(refused)
}

/// Whether the page explains this code.
pub(crate) fn explains(code: &Code) -> bool {
    chapters().any(|(_, words)| words.contains(&meaning(code)))
}

fn meaning(code: &Code) -> Meaning {
    (code.word(), code.status(), code.title())
}
