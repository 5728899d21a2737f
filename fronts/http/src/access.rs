//! Access in HTTP: its routes, and what its operations answer.

use turnstile_services::access::{self, Answer};

use crate::{
    code::Code,
    operation::{OperationRoute, delete, get, post, put},
    served::serve,
};

/// What its declaration cannot say.
pub(crate) const ROUTES: &[OperationRoute] = &[
    get("who_am_i", "/whoami"),
    post("add_principal", "/principals").makes(&[]),
    get("list_principals", "/principals"),
    get("get_principal", "/principals/{principal}"),
    delete("remove_principal", "/principals/{principal}"),
    put("grant", "/principals/{principal}/grants/{role}"),
    delete("withdraw_grant", "/principals/{principal}/grants/{role}"),
    put("set_quota", "/principals/{principal}/quota"),
    post("add_key", "/principals/{principal}/keys").makes(&[]),
    post("add_certificate", "/principals/{principal}/certificates").makes(&[]),
    post("remove_certificate", "/certificates/remove"),
    get("list_keys", "/keys"),
    put("expire_key", "/keys/{id}/expiry"),
    delete("revoke_key", "/keys/{id}"),
    get("get_default_quota", "/quota"),
    put("set_default_quota", "/quota"),
    get("get_totals", "/totals"),
];

serve! {
    access::Access, |_door| (),
    { Answer::Refused(refusal) => Code::from(*refusal) }
}
