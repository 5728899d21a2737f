//! The operations of games.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    routing::{MethodFilter, MethodRouter, on},
};
use turnstile_games::{Command, Games, Query};
use turnstile_http::{
    Problem,
    games::{
        self, Answerable, Challenge, DrawAnswer, Move, NewMatch, PlayerNamed, Search, match_in,
        measure_in, player_in, tell_answer, tell_outcome,
    },
};

use super::{Answered, OnePath, Order, TheDoor, TwoPath, bare, part, show};
use crate::doors::http::{
    Door,
    call::{Call, broken_path},
    reply::{Trouble, done_response},
};

pub(super) fn function(filter: MethodFilter, id: &str) -> Option<MethodRouter<Arc<Door>>> {
    Some(match id {
        "challenge" => on(filter, challenge),
        "seek" => on(filter, seek),
        "listTickets" => on(filter, list_tickets),
        "beginMatch" => on(filter, begin),
        "listMatches" => on(filter, list_matches),
        "getMatch" => on(filter, get_match),
        "move" => on(filter, make_move),
        "resign" => on(filter, resign),
        "abortMatch" => on(filter, abort),
        "draw" => on(filter, draw),
        "claimWin" => on(filter, claim_win),
        "getPlayer" => on(filter, get_player),
        "withdrawPlayer" => on(filter, withdraw),
        "getStanding" => on(filter, get_standing),
        "listOpponents" => on(filter, list_opponents),
        "getTally" => on(filter, get_tally),
        "getLeaders" => on(filter, get_leaders),
        "getAround" => on(filter, get_around),
        "gamesTotals" => on(filter, totals),
        _ => return None,
    })
}

fn player<T>(
    path: OnePath,
    then: impl FnOnce(turnstile_games::PlayerId) -> T,
) -> Result<T, Trouble> {
    part(path, |text| player_in("player", text)).map(then)
}

/// A path's two parameters.
fn parts<A, B>(
    path: TwoPath,
    first: impl FnOnce(&str) -> Result<A, Problem>,
    second: impl FnOnce(&str) -> Result<B, Problem>,
) -> Result<(A, B), Trouble> {
    let Path((one, other)) = path.map_err(|_rejected| broken_path())?;
    Ok((first(&one)?, second(&other)?))
}

fn order(call: &Call, command: Result<Command, Problem>) -> Result<Order, Trouble> {
    Order::new::<Games>(call, &command?)
}

async fn execute(door: &Door, order: Order) -> Answered {
    let reply = door.courier.command::<Games>(order.key, order.command);
    let reply = reply.await?;
    let told = tell_outcome(reply.position, reply.replayed, &reply.outcome)?;
    Ok(done_response::<Games>(told, &reply))
}

async fn read(door: &Door, call: &Call, query: Query) -> Answered {
    let (position, answer) = door.courier.query::<Games>(query).await?;
    show(call, position, tell_answer(&answer))
}

async fn challenge(State(door): TheDoor, call: Call) -> Answered {
    let order = order(&call, call.json::<Challenge<'_>>()?.command())?;
    execute(&door, order).await
}

async fn seek(State(door): TheDoor, call: Call) -> Answered {
    let order = order(&call, call.json::<Search<'_>>()?.command())?;
    execute(&door, order).await
}

async fn list_tickets(State(door): TheDoor, call: Call) -> Answered {
    let query = games::tickets(call.parameters(&["game"]))?;
    read(&door, &call, query).await
}

async fn begin(State(door): TheDoor, call: Call) -> Answered {
    let order = order(&call, call.json::<NewMatch<'_>>()?.command())?;
    execute(&door, order).await
}

async fn list_matches(State(door): TheDoor, call: Call) -> Answered {
    let query = games::matches(call.parameters(&["limit", "cursor"]))?;
    read(&door, &call, query).await
}

async fn get_match(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let match_id = part(path, match_in)?;
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Match { match_id }).await
}

async fn make_move(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let match_id = part(path, match_in)?;
    let order = order(&call, call.json::<Move<'_>>()?.command(match_id))?;
    execute(&door, order).await
}

/// Something that is done in a match with no more to say than who does it.
fn plain(path: OnePath, call: &Call, what: Answerable) -> Result<Order, Trouble> {
    let match_id = part(path, match_in)?;
    let named = call.json::<PlayerNamed<'_>>()?;
    order(call, named.command(match_id, what))
}

async fn resign(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let order = plain(path, &call, Answerable::Resign)?;
    execute(&door, order).await
}

async fn abort(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let order = plain(path, &call, Answerable::Abort)?;
    execute(&door, order).await
}

async fn claim_win(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let order = plain(path, &call, Answerable::ClaimWin)?;
    execute(&door, order).await
}

async fn draw(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let match_id = part(path, match_in)?;
    let order = order(&call, call.json::<DrawAnswer<'_>>()?.command(match_id))?;
    execute(&door, order).await
}

async fn get_player(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let query = player(path, |player| Query::Player { player })?;
    call.parameters(&[]).one("")?;
    read(&door, &call, query).await
}

async fn withdraw(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let command = player(path, |player| Command::Withdraw { player })?;
    bare(&call)?;
    let order = order(&call, Ok(command))?;
    execute(&door, order).await
}

async fn get_standing(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let query = player(path, |player| Query::Standing { player })?;
    call.parameters(&[]).one("")?;
    read(&door, &call, query).await
}

async fn list_opponents(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let player = player(path, |player| player)?;
    let query = games::opponents(call.parameters(&["limit", "cursor"]), player)?;
    read(&door, &call, query).await
}

async fn get_tally(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let player = |text: &str| player_in("player", text);
    let opponent = |text: &str| player_in("opponent", text);
    let (player, opponent) = parts(path, player, opponent)?;
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Against { player, opponent }).await
}

async fn get_leaders(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let measure = part(path, measure_in)?;
    let query = games::leaders(call.parameters(&["limit", "cursor"]), measure)?;
    read(&door, &call, query).await
}

async fn get_around(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let player = |text: &str| player_in("player", text);
    let (measure, player) = parts(path, measure_in, player)?;
    let query = games::around(call.parameters(&["each_side"]), measure, player)?;
    read(&door, &call, query).await
}

async fn totals(State(door): TheDoor, call: Call) -> Answered {
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Totals).await
}
