//! What a back end reports about itself.

/// What the database is, for `INFO`, `/metrics` and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Such as `PostgreSQL`.
    pub product: String,
    pub version: String,
    /// Where it is, without user and password: `host:port/database`.
    pub place: String,
    /// The settings by which it keeps what it has committed, as name and value.
    pub durability: Vec<(String, String)>,
    /// The number of the newest migration of its schema.
    pub schema: u32,
}
