//! The table of operations: the router, the OpenAPI document and the docs page are made of it.

use std::sync::LazyLock;

use turnstile_types::Machine;

use crate::operation::{Operation, Service, documents, of_service};

/// The names of the parts of the documentation, in order, and what they are about.
pub(crate) fn chapters() -> impl Iterator<Item = (Option<Service>, &'static str)> {
    let services = Service::ALL.iter();
    let services = services.map(|service| (Some(*service), service.about()));
    services.into_iter().chain([(None, "The server itself")])
}

/// The operation that answers a method at a path. `HEAD` is answered as `GET` is.
#[must_use]
pub fn operation_at(method: &str, path: &str) -> Option<&'static Operation> {
    let method = if method == "HEAD" { "GET" } else { method };
    operations()
        .iter()
        .find(|one| one.method.as_str() == method && one.has_path(path))
}

macro_rules! operations {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn operations_of_services() -> Vec<Vec<Operation>> {
            vec![$(
                of_service::<
                    <turnstile_services::$name::$machine as Machine>::Command<'_>,
                    turnstile_services::$name::Query,
                    turnstile_services::$name::Refusal,
                >(Service::$machine, crate::$name::ROUTES)
            ),+]
        }
    };
}

turnstile_services::services!(operations);

/// Every operation, in the order of the documentation.
#[must_use]
pub fn operations() -> &'static [Operation] {
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| {
        let services = operations_of_services();
        let mut all = documents();
        all.splice(0..0, services.into_iter().flatten());
        all.sort_by_key(|one| one.service().map_or(usize::MAX, |service| service as usize));
        all
    });
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Place;

    #[test]
    fn identifiers_and_routes_are_unique() {
        for (at, operation) in operations().iter().enumerate() {
            for other in operations().iter().skip(at + 1) {
                assert_ne!(operation.id, other.id);
                let same = operation.path == other.path && operation.method == other.method;
                assert!(!same, "{} {}", operation.method.as_str(), operation.path);
            }
        }
    }

    #[test]
    fn what_stands_in_a_path_is_a_parameter_of_its_operation() {
        for operation in operations() {
            let parts = operation.path.split('/');
            let names = parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            for name in names {
                let parameter = operation.parameters.iter().find(|one| one.name == name);
                let place = parameter.map(|one| one.place);
                assert_eq!(place, Some(Place::Path), "{} {name}", operation.path);
            }
        }
    }

    #[test]
    fn an_operation_is_named_as_on_every_door() {
        let book = operation_at("POST", "/v1/rooms/bookings").unwrap();
        assert_eq!(book.id, "roomsBook");
        let names: Vec<&str> = book.parameters.iter().map(|one| one.name).collect();
        let declared = [
            "property",
            "wish",
            "arrival",
            "departure",
            "guest",
            "id_number",
        ];
        assert_eq!(names, declared);
    }
}
