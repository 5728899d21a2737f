//! The results of a player, counted again from the journal's files on a thread of its own.

use std::{sync::Arc, thread};

use tokio::sync::oneshot;
use turnstile_chassis::{Right, Subject};
use turnstile_embedded::{RecountedPlayer, recount_player};
use turnstile_games::{Games, PlayerId};
use turnstile_http::{Code, CountedResult, PlayerRecount, Problem, read_recount};
use turnstile_types::Machine as _;

use super::{
    Door, call::HttpCall, documents::json, limits::RECOUNT_RESULTS, operations::Answered,
    reply::RaisedProblem,
};

/// Counts the results of all players again, and shows those of one. It takes the state of all services a
/// second time, as an audit does: there is one of both at a time.
pub(super) async fn recount(door: Arc<Door>, call: HttpCall) -> Answered {
    call.visitor
        .may_follow(Games::SERVICE, Right::Manage, &Subject::All)?;
    let player = read_recount(&call.given()?)?;
    let Some(directory) = door.about.data.clone() else {
        let none = "this server keeps no journal on a disk";
        return Err(RaisedProblem::from(Problem::with(Code::Unsupported, none)));
    };
    let reader = call.visitor.caller.principal;
    let _alone = door.audits.claim(&reader)?;
    let (answer, answered) = oneshot::channel();
    let thread = thread::Builder::new().name("recount".to_owned());
    let begun = thread.spawn(move || {
        let is_left = || answer.is_closed();
        let counted = recount_player(&directory, player, RECOUNT_RESULTS, is_left);
        // Its client may have left.
        drop(answer.send(counted));
    });
    begun.map_err(|failure| unread(&failure))?;
    let counted = answered.await.map_err(|_ended| Code::Unavailable)?;
    let counted = counted.map_err(|failure| unread(&failure))?;
    let counted = counted.ok_or(Code::Unavailable)?;
    Ok(json(&shown(player, counted)))
}

fn unread(failure: &impl ToString) -> Problem {
    let cause = failure.to_string();
    tracing::error!(%cause, "the results of games cannot be counted again");
    Problem::with(Code::Unavailable, cause)
}

fn shown(player: PlayerId, counted: RecountedPlayer) -> PlayerRecount {
    let results = counted.history.iter().rev();
    PlayerRecount {
        player,
        from: counted.from,
        position: counted.last,
        results: counted.results,
        differences: counted.differences.into_iter().map(Into::into).collect(),
        standing: counted.standing,
        history: results
            .filter_map(|event| CountedResult::of(event, &player))
            .collect(),
        has_older: counted.has_older,
    }
}
