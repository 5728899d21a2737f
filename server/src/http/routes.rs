//! Which function answers which operation.

use std::sync::Arc;

use axum::{
    Router,
    http::Method as HttpMethod,
    routing::{MethodFilter, MethodRouter, on},
};
use turnstile_http::{Code, Method, OPERATIONS, Operation, Problem};

use super::{Door, documents, metrics, operations, reply::Trouble, stream};

/// The router of every operation in the table, and no other.
pub(super) fn router(door: &Arc<Door>) -> Router {
    let mut router = Router::new();
    for operation in OPERATIONS {
        router = router.route(operation.path, function(operation));
    }
    router
        .method_not_allowed_fallback(async |method: HttpMethod| {
            let detail = format!("{method} is not among those in Allow");
            Trouble::from(Problem::with(Code::MethodNotAllowed, detail))
        })
        .fallback(async || Trouble::from(Code::UnknownPath))
        .with_state(Arc::clone(door))
}

fn function(operation: &Operation) -> MethodRouter<Arc<Door>> {
    let filter = match operation.method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    };
    match operation.id {
        "book" => on(filter, operations::book),
        "lookUp" => on(filter, operations::look_up),
        "cancel" => on(filter, operations::cancel),
        "hold" => on(filter, operations::hold),
        "listHolds" => on(filter, operations::list_holds),
        "extend" => on(filter, operations::extend),
        "confirm" => on(filter, operations::confirm),
        "release" => on(filter, operations::release),
        "searchGuest" => on(filter, operations::search_guest),
        "addProperty" => on(filter, operations::add_property),
        "listProperties" => on(filter, operations::list_properties),
        "addRoom" => on(filter, operations::add_room),
        "withdrawRoom" => on(filter, operations::withdraw_room),
        "stopSell" => on(filter, operations::stop_sell),
        "resumeSell" => on(filter, operations::resume_sell),
        "listBookings" => on(filter, operations::list_bookings),
        "availability" => on(filter, operations::availability),
        "explain" => on(filter, operations::explain),
        "events" => on(filter, stream::events),
        "live" => on(filter, documents::live),
        "ready" => on(filter, documents::ready),
        "version" => on(filter, documents::version),
        "metrics" => on(filter, metrics::metrics),
        "openapi" => on(filter, documents::openapi),
        "docs" => on(filter, documents::docs),
        "docsStyle" => on(filter, documents::style),
        other => unreachable!("operation {other} has a function"),
    }
}
