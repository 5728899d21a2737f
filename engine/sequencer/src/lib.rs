//! The loop that orders commands, journals them in groups and releases the answers.
