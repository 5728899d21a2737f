//! The audit over HTTP: what a request asks for, and what is answered.

use turnstile_chassis::{Cursor, PAGE, PAGE_MAX, Readable as _, Source as _, whole};
use turnstile_json::{AuditFilter, AuditLine, AuditPage, service_names};
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{given::Given, problem::Problem, schema::Schemas};

/// One page of the audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRequest {
    pub filter: AuditFilter,
    /// What was decided up to this position is not shown.
    pub after: Position,
    /// The newest first, and only what was decided before this position; else the oldest first.
    pub before: Option<Position>,
    /// The most commands of the page.
    pub limit: usize,
}

/// Reads a request for the audit.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_audit<'a>(given: &'a Given<'a>) -> Result<AuditRequest, Problem> {
    given.read_with(|reader| {
        let principal = reader.optional("principal", Name::parse);
        let service = reader.optional("service", service_number);
        let since = reader.optional("since", Timestamp::parse);
        let until = reader.optional("until", Timestamp::parse);
        let refused = reader.flag("refused");
        let order = reader.optional("order", order);
        let cursor = reader.optional("cursor", Cursor::read);
        let limit = reader.optional("limit", |text| whole(text, 1, PAGE_MAX));
        let (cursor, is_newest) = (
            cursor?.map(|Cursor(at)| Position(at)),
            order?.unwrap_or(false),
        );
        Some(AuditRequest {
            filter: AuditFilter {
                principal: principal?.map(Principal),
                service: service?,
                since: since?,
                until: until?,
                refused: refused?,
            },
            after: cursor.filter(|_| !is_newest).unwrap_or(Position(0)),
            before: is_newest.then(|| cursor.unwrap_or(Position(u64::MAX))),
            limit: limit?.unwrap_or_else(|| PAGE.into()),
        })
    })
}

/// Whether the newest come first.
fn order(text: &[u8]) -> Result<bool, &'static str> {
    match text {
        b"oldest" => Ok(false),
        b"newest" => Ok(true),
        _ => Err("one of oldest, newest"),
    }
}

fn service_number(text: &[u8]) -> Result<u8, &'static str> {
    let mut names = service_names().into_iter();
    let found = names.find(|(_, name)| name.as_bytes() == text);
    found
        .map(|(number, _)| number)
        .ok_or("there is no such service")
}

pub(crate) fn schemas() -> Schemas {
    let page = "Commands of the journal, and how far they go.";
    Schemas::new("Access")
        .listed(
            "AuditLine",
            "One command of the journal.",
            AuditLine::describe(),
        )
        .listed("AuditPage", page, AuditPage::describe())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::operation_at;

    #[test]
    fn a_request_says_which_commands_and_from_where_on() {
        let parameters = &operation_at("GET", "/v1/audit").unwrap().parameters;
        let read = |query: &'static str| {
            let mut given = Given::new(parameters);
            given.add_query(query);
            read_audit(&given)
        };
        let everything = AuditRequest {
            filter: AuditFilter::default(),
            after: Position(0),
            before: None,
            limit: 100,
        };
        assert_eq!(read(""), Ok(everything));
        let query = "principal=shop&service=rooms&since=2027-05-01T12:00:00Z&until=2027-05-02T12:00:00Z\
                     &refused=true&cursor=c000000000000000a&limit=7";
        let shop = Principal(Name::parse(b"shop").unwrap());
        let some = AuditRequest {
            filter: AuditFilter {
                principal: Some(shop),
                service: Some(1),
                since: Some(Timestamp(1_809_172_800_000)),
                until: Some(Timestamp(1_809_259_200_000)),
                refused: true,
            },
            after: Position(10),
            before: None,
            limit: 7,
        };
        assert_eq!(read(query), Ok(some));
        let newest = |before| {
            Ok(AuditRequest {
                filter: AuditFilter::default(),
                after: Position(0),
                before: Some(Position(before)),
                limit: 100,
            })
        };
        assert_eq!(read("order=newest"), newest(u64::MAX));
        assert_eq!(read("order=newest&cursor=c000000000000000a"), newest(10));
        for wrong in [
            "service=room",
            "since=yesterday",
            "refused=maybe",
            "cursor=10",
            "limit=0",
            "limit=1001",
            "order=random",
            "principal=",
            "all=true",
        ] {
            let problem = read(wrong).unwrap_err();
            assert_eq!(problem.errors.len(), 1, "{wrong}: {problem:?}");
        }
    }
}
