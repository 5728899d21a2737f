//! The page of the documentation that says which right each operation needs.

use std::{env, fmt::Write as _, fs, path::Path};

use turnstile_chassis::{Operations as _, Right};
use turnstile_types::Machine;

use crate::{
    operation::{Answerer, Audience, Operation, Service},
    table::{chapters, operations},
};

const PAGE: &str = "\
# Rights

Once a data directory has keys, every request needs a key, and every operation needs a right. The
rights are the same on every door. A stronger right holds the weaker ones:

| right | for | roles that have it |
| --- | --- | --- |
| `SERVICE.read` | reading | `reader`, `SERVICE.user`, `SERVICE.manager`, `admin` |
| `SERVICE.use` | what customers do: book, hold, trade, play | `SERVICE.user`, `SERVICE.manager`, `admin` |
| `SERVICE.manage` | setting up what is sold, acting for others | `SERVICE.manager`, `admin` |
| `operate` | metrics, backups, draining: no business data but what a backup holds | `operator`, `admin` |

A role may be granted for some things only, by their names or by the beginning of their names:
properties of rooms, accounts of the exchange, customers of travel, players of games, shows of
seats. A limited caller may do what is about its own things. It may also read what is public, such
as availability, order books and the list of matches. The server finds the things behind a
reference: the property of a booking, the account of an order. A limited caller is refused for
references that do not exist as for those of others.

A *held* operation uses a hold or an open transaction of travel. Only the principal that made it may do
that, or a principal with the right `manage` for the same things.

Who may do what is for the role `admin` alone: no other role has a right of `access`. But every caller
may ask who it is and what it may do, with `ACCESS.WHO-AM-I` or `GET /v1/access/whoami`.

If a database decides rooms, it also judges what a command may name, in the same step, by the same
rules. What a query names by a reference alone, such as `ROOMS.LOOK-UP` or `EXCHANGE.GET-ORDER`, is
judged there by what its answer shows.

This page is generated from the declarations by `cargo xtask reference`.
";

/// The name of an operation in RESP, where it is one.
fn resp_name(operation: &Operation) -> String {
    macro_rules! word {
        ($($name:ident: $machine:ident),+ $(,)?) => {
            match operation.answerer {
                $(
                    Answerer::Command(Service::$machine, place) => {
                        <turnstile_services::$name::$machine as Machine>::Command::operations()
                            .into_iter()
                            .find(|one| one.place == place)
                    }
                    Answerer::Query(Service::$machine, place) => {
                        turnstile_services::$name::Query::operations()
                            .into_iter()
                            .find(|one| one.place == place)
                    }
                )+
                _ => None,
            }
        };
    }
    let declared = turnstile_services::services!(word);
    let service = operation.service().map_or("", Service::name);
    declared.map_or_else(String::new, |declared| {
        let name = format!("{service}.{}", declared.word).to_uppercase();
        format!("`{}`", name.replace('_', "-"))
    })
}

fn right(audience: Audience) -> String {
    let is_held = matches!(audience, Audience::Having(_, needed) if needed.of_holder);
    let held = if is_held { ", held" } else { "" };
    let none = match audience {
        Audience::Callers => "any key",
        _ => "none",
    };
    let right = audience.right();
    right.map_or_else(|| none.to_owned(), |right| format!("`{right}`{held}"))
}

fn page() -> String {
    let mut page = PAGE.to_owned();
    for (service, about) in chapters() {
        let name = service.map_or("server", Service::name);
        write!(page, "\n## {name}\n\n{about}.\n\n").unwrap();
        page.push_str("| RESP | HTTP | right |\n| --- | --- | --- |\n");
        for operation in operations().iter().filter(|one| one.service() == service) {
            let (method, path) = (operation.method.as_str(), &operation.path);
            let (resp, right) = (resp_name(operation), right(operation.audience));
            writeln!(page, "| {resp} | `{method} {path}` | {right} |").unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_rights_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rights.md");
    let page = page();
    if env::var_os("TURNSTILE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let reviewed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == reviewed,
        "docs/reference/rights.md differs; review, then run `cargo xtask reference`"
    );
}

#[test]
fn every_operation_of_a_service_needs_a_right_and_only_documents_need_none() {
    for operation in operations() {
        let is_of_service = operation.service().is_some();
        match operation.audience {
            Audience::Having(service, needed) => {
                assert_eq!(Some(service), operation.service(), "{}", operation.id);
                let changes = operation.mutates() && needed.right == Right::Read;
                assert!(!changes, "{} changes something", operation.id);
            }
            Audience::Everybody | Audience::Callers | Audience::Operators => {
                assert!(!is_of_service, "{}", operation.id);
            }
        }
    }
}
