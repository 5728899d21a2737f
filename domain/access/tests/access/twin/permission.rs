//! What grants permit, as the table of roles says it to people.

use turnstile_access::{GrantEntry, Right, Subject};
use turnstile_types::Principal;

/// Whether a caller with these grants may ask this of a service.
pub(crate) fn is_permitted(
    grants: &[GrantEntry],
    caller: &Principal,
    (service, right): (&str, Right),
    subject: &Subject,
) -> bool {
    let lists = |right| lists_of_names(grants, service, right);
    let is_for = |list: &[String], name: &str| list.iter().any(|pattern| is_like(pattern, name));
    let are_covered = |right, names: &[&str]| {
        let lists = lists(right);
        !lists.is_empty()
            && names
                .iter()
                .all(|name| lists.iter().any(|list| is_for(list, name)))
    };
    match subject {
        Subject::Caller => true,
        Subject::Public => !lists(right).is_empty(),
        Subject::All | Subject::Unknown => lists(right).contains(&vec!["*".to_owned()]),
        Subject::AllHeldBy(holder) => {
            let all = |right| lists(right).contains(&vec!["*".to_owned()]);
            all(right) && (holder == caller || right == Right::Read || all(Right::Manage))
        }
        Subject::Things { names, holder } => {
            let names: Vec<&str> = names.iter().flatten().map(|name| name.as_str()).collect();
            let is_of_another = holder.as_ref().is_some_and(|holder| holder != caller);
            let may_manage = if names.is_empty() {
                lists(Right::Manage).contains(&vec!["*".to_owned()])
            } else {
                are_covered(Right::Manage, &names)
            };
            are_covered(right, &names) && (!is_of_another || right == Right::Read || may_manage)
        }
    }
}

/// The names for which grants give a right: a list for each grant that does.
fn lists_of_names(grants: &[GrantEntry], service: &str, right: Right) -> Vec<Vec<String>> {
    let gives = |role: &str| match role {
        "admin" => true,
        "operator" => false,
        "reader" => right == Right::Read && service != "access",
        _ => match role.split_once('.') {
            Some((of, "manager")) => of == service,
            Some((of, "user")) => of == service && right != Right::Manage,
            other => panic!("no such role: {other:?}"),
        },
    };
    let given = grants.iter().filter(|grant| gives(grant.role.code()));
    given
        .map(|grant| grant.only.iter().map(ToString::to_string).collect())
        .collect()
}

fn is_like(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}
