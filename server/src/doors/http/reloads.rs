//! A reload of the configuration that an administrator asks for.

use std::sync::Arc;

use turnstile_access::Access;
use turnstile_chassis::{Right, Subject};
use turnstile_http::{Code, Problem};
use turnstile_types::Machine as _;

use super::{Door, call::HttpCall, documents::json, operations::Answered, reply::RaisedProblem};
use crate::reloading::{NoReload, ReloadRefused};

/// Has the configuration read again, and says what has changed.
pub(super) async fn reload(door: Arc<Door>, call: HttpCall) -> Answered {
    call.visitor
        .may_follow(Access::SERVICE, Right::Manage, &Subject::All)?;
    call.given()?.read_with(|_nothing| Some(()))?;
    let by = call.visitor.caller.principal;
    let outcome = door.about.reloads.ask(by).await;
    let outcome = outcome.map_err(|none| match none {
        NoReload::NoConfiguration => {
            let none = "this server was started without a configuration that can be read again";
            Problem::with(Code::Unsupported, none)
        }
        NoReload::Busy => Problem::with(Code::Overloaded, "others wait for a reload already"),
        NoReload::Ending => Problem::with(Code::Unavailable, "the server is stopping"),
    })?;
    let done = outcome.map_err(|refused| {
        let code = match refused {
            ReloadRefused::Wrong(_) => Code::InvalidConfiguration,
            ReloadRefused::NeedsRestart(_) => Code::NeedsRestart,
        };
        RaisedProblem::from(Problem::with(code, refused.to_string()))
    })?;
    Ok(json(&done))
}
