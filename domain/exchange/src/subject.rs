//! What a request is about: the accounts to which grants are limited.

use turnstile_chassis::Subject;
use turnstile_types::Name;

use crate::{AccountId, Command, Exchange, OrderRef, Query};

impl Exchange {
    /// An order is looked up by its account alone, which refuses orders of others.
    pub(crate) fn subject_of_command(command: &Command) -> Subject {
        match command {
            Command::CreateAccount { account, .. }
            | Command::Grant { account, .. }
            | Command::Deposit { account, .. }
            | Command::Withdraw { account, .. }
            | Command::Cancel { account, .. }
            | Command::Replace { account, .. }
            | Command::CancelAll { account, .. }
            | Command::SetLimits { account, .. } => Subject::of(name_of(account)),
            Command::Order(order) => Subject::of(name_of(&order.account)),
            // Every account trades it.
            Command::CreateSymbol { .. } | Command::SetBand { .. } | Command::Halt { .. } => {
                Subject::All
            }
        }
    }

    pub(crate) fn subject_of_question(&self, query: &Query) -> Subject {
        match query {
            Query::Account { account, .. } | Query::Orders { account, .. } => {
                Subject::of(name_of(account))
            }
            Query::Order { account, order } => self.subject_of_order(account.as_ref(), order),
            Query::Accounts { .. } => Subject::All,
            Query::Symbols { .. }
            | Query::Symbol { .. }
            | Query::Depth { .. }
            | Query::Queue { .. }
            | Query::Trades { .. }
            | Query::Totals => Subject::Public,
        }
    }

    /// The account that is named, and the one that sent the order: with a number, any account may be
    /// named.
    fn subject_of_order(&self, account: Option<&AccountId>, order: &OrderRef) -> Subject {
        let named = account.map(name_of);
        let sender = match order {
            OrderRef::Client(_) => return named.map_or(Subject::Unknown, Subject::of),
            OrderRef::Id(id) => self.ledger.find(*id),
        };
        sender.map_or(Subject::Unknown, |row| {
            let sender = self.accounts.at(self.ledger.at(row).account).id;
            Subject::Things {
                names: [Some(name_of(&sender)), named],
                holder: None,
            }
        })
    }
}

fn name_of(account: &AccountId) -> Name {
    Name::parse(account.text()).expect("accounts have the alphabet of names, and are shorter")
}
