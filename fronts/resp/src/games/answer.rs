//! Answers to queries as replies: maps in RESP3, flat arrays of fields and values in RESP2.

use turnstile_games::{
    ActivityView, Answer, Leader, Opponent, PlayerId, PlayerView, Refusal, Rung, Tally, Totals,
};

use super::{
    facts,
    values::{Field, Value, standing_fields, tally_fields},
};
use crate::{
    Encoder,
    verdict::{Put, put_fields, put_map, put_refused},
};

/// The refusal of a query about somebody of whom nothing is known.
const NO_SUCH_PLAYER: &str = "no_such_player";

/// Appends what was answered to a query. A page is its entries and where the next begins, if there
/// is one; matches that are played are an array, and the next page begins after the last of them. A
/// field that is not set is null.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Match(Some(view)) => Value::State(view).put(reply),
        Answer::Match(None) => put_absence(reply, Refusal::NoSuchMatch.code()),
        Answer::Matches(views) => put_values(reply, views, Value::State),
        Answer::Player(Some(view)) => put_player(reply, view),
        Answer::Tickets(tickets) => put_values(reply, tickets, Value::Ticket),
        Answer::Standing(Some(standing)) => put_map(reply, &standing_fields(standing)),
        Answer::Player(None) | Answer::Standing(None) | Answer::Around(None) => {
            put_absence(reply, NO_SUCH_PLAYER);
        }
        Answer::Against(tally) => {
            put_map(reply, &tally_fields(tally.unwrap_or(Tally::NONE)));
        }
        Answer::Opponents { page, next } => {
            put_page(reply, "opponents", page, put_opponent);
            put_next(reply, next.map(|Opponent(row)| row));
        }
        Answer::Leaders { page, next } => {
            put_page(reply, "leaders", page, put_leader);
            let shown = |Rung { score, number }: &Rung| format!("{score}:{number}");
            put_next(reply, next.as_ref().map(shown));
        }
        Answer::Around(Some(leaders)) => {
            reply.array(leaders.len());
            leaders.iter().for_each(|leader| put_leader(reply, leader));
        }
        Answer::Totals(totals) => {
            let fields = figures(totals);
            put_map(
                reply,
                &fields.map(|(name, figure)| (name, Value::Number(figure))),
            );
        }
    }
}

/// The figures of `INFO`, where everything is about games.
fn figures(totals: &Totals) -> [(&'static str, u64); 9] {
    facts(totals).map(|(name, figure)| {
        let name = name.strip_prefix("games_");
        (name.expect("every figure is one of games"), figure)
    })
}

fn put_absence(reply: &mut Encoder<'_>, code: &'static str) {
    put_refused::<Value<'_>>(reply, code, &[], None, false);
}

fn put_values<'a, T>(reply: &mut Encoder<'_>, entries: &'a [T], value: fn(&'a T) -> Value<'a>) {
    reply.array(entries.len());
    for entry in entries {
        value(entry).put(reply);
    }
}

fn put_page<T>(
    reply: &mut Encoder<'_>,
    name: &str,
    entries: &[T],
    put: impl Fn(&mut Encoder<'_>, &T),
) {
    reply.map(2);
    reply.text(name);
    reply.array(entries.len());
    entries.iter().for_each(|entry| put(reply, entry));
}

fn put_next(reply: &mut Encoder<'_>, next: Option<impl std::fmt::Display>) {
    reply.text("next");
    match next {
        Some(next) => reply.shown(next),
        None => reply.null(),
    }
}

fn put_opponent(reply: &mut Encoder<'_>, (opponent, tally): &(PlayerId, Tally)) {
    let fields = tally_fields(*tally);
    reply.map(1 + fields.len());
    put_fields(reply, &[("opponent", Value::Text(opponent.as_str()))]);
    put_fields(reply, &fields);
}

fn put_leader(reply: &mut Encoder<'_>, leader: &Leader) {
    let fields = standing_fields(&leader.standing);
    reply.map(2 + fields.len());
    let who = [
        ("place", Value::count(leader.place)),
        ("player", Value::Text(leader.player.as_str())),
    ];
    put_fields(reply, &who);
    put_fields(reply, &fields);
}

/// What a player does; why a search still waits is said by its ticket.
fn put_player(reply: &mut Encoder<'_>, view: &PlayerView) {
    let mut put = |activity, more: &[Field<'_>]| {
        reply.map(2 + more.len());
        let fields = [
            ("connected", Value::Boolean(view.connected)),
            ("activity", Value::Text(activity)),
        ];
        put_fields(reply, &fields);
        put_fields(reply, more);
    };
    match &view.activity {
        ActivityView::Idle => put("idle", &[]),
        ActivityView::Challenging { opponent, game } => put(
            "challenging",
            &[
                ("opponent", Value::Text(opponent.as_str())),
                ("game", Value::Text(game.code())),
            ],
        ),
        ActivityView::Seeking(ticket) => put("seeking", &[("ticket", Value::Ticket(ticket))]),
        ActivityView::Playing(state) => put("playing", &[("state", Value::State(state))]),
    }
}
