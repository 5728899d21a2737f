//! What a request is about: nothing but itself is every caller's own.

use turnstile_chassis::Subject;

use crate::{Access, Command, Query};

impl Access {
    /// Who may do what is for administrators, who have no limits.
    pub(crate) const fn subject_of_command(command: &Command) -> Subject {
        match command {
            Command::AddPrincipal { .. }
            | Command::RemovePrincipal { .. }
            | Command::Grant { .. }
            | Command::WithdrawGrant { .. }
            | Command::AddKey { .. }
            | Command::ExpireKey { .. }
            | Command::RevokeKey { .. }
            | Command::SetQuota { .. }
            | Command::SetDefaultQuota { .. }
            | Command::AddCertificate { .. }
            | Command::RemoveCertificate { .. }
            | Command::NoteUse { .. } => Subject::All,
        }
    }

    pub(crate) const fn subject_of_question(query: &Query) -> Subject {
        match query {
            Query::WhoAmI => Subject::Caller,
            Query::GetPrincipal { .. }
            | Query::Principals { .. }
            | Query::Keys { .. }
            | Query::DefaultQuota
            | Query::Totals => Subject::All,
        }
    }
}
