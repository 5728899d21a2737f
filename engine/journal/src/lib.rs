//! The ordered, durable list of groups of records.
