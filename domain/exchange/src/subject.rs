//! Whose a request is: the accounts to which grants are limited.

use turnstile_chassis::{Subject, SubjectOf};
use turnstile_types::Name;

use crate::{AccountId, Answer, Command, Exchange, OrderId, Query, about::About};

impl SubjectOf for Exchange {
    fn subject_of(&self, command: &Command) -> Subject {
        self.subject(command.about())
    }

    fn subject_of_query(&self, query: &Query) -> Subject {
        self.subject(query.about())
    }

    fn subject_of_answer(query: &Query, answer: &Answer) -> Subject {
        match (query, answer) {
            (Query::Order { account, .. }, Answer::Order(order)) => {
                of_order(order.account, *account)
            }
            _ => Subject::Unknown,
        }
    }
}

impl Exchange {
    fn subject(&self, about: About) -> Subject {
        match about {
            About::All => Subject::All,
            About::Public => Subject::Public,
            About::Account(account) => Subject::of(name_of(account)),
            About::Order(account, order) => self.subject_of_order(account, order),
        }
    }

    /// The account that is named, and the one that sent the order: with a number, any account may be
    /// named.
    fn subject_of_order(&self, account: Option<AccountId>, order: Option<OrderId>) -> Subject {
        let Some(order) = order else {
            return account.map_or(Subject::Unknown, |named| Subject::of(name_of(named)));
        };
        self.ledger.find(order).map_or(Subject::Unknown, |row| {
            let sender = self.accounts.at(self.ledger.at(row).account).id;
            of_order(sender, account)
        })
    }
}

/// What is asked about an order is about the account that sent it, and the one that is named beside it.
fn of_order(sender: AccountId, named: Option<AccountId>) -> Subject {
    Subject::Things {
        names: [Some(name_of(sender)), named.map(name_of)],
        holder: None,
    }
}

fn name_of(account: AccountId) -> Name {
    Name::parse(account.text()).expect("accounts have the alphabet of names, and are shorter")
}
