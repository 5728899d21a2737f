//! The words for the choices of an order.

use turnstile_exchange::{SelfTrade, Side, TimeInForce};

pub(super) const SIDES: [(&str, Side); 2] = [("buy", Side::Buy), ("sell", Side::Sell)];

pub(super) const SELF_TRADES: [(&str, SelfTrade); 5] = [
    ("allow", SelfTrade::Allow),
    ("skip", SelfTrade::Skip),
    ("expire_maker", SelfTrade::ExpireMaker),
    ("expire_taker", SelfTrade::ExpireTaker),
    ("expire_both", SelfTrade::ExpireBoth),
];

/// What a word stands for, whatever the case of its letters.
#[inline]
pub(super) fn chosen<T: Copy>(choices: &[(&str, T)], word: &[u8]) -> Option<T> {
    choices
        .iter()
        .find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(word))
        .map(|(_, choice)| *choice)
}

pub(super) const fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    }
}

pub(super) const fn self_trade(mode: SelfTrade) -> &'static str {
    match mode {
        SelfTrade::Allow => "allow",
        SelfTrade::Skip => "skip",
        SelfTrade::ExpireMaker => "expire_maker",
        SelfTrade::ExpireTaker => "expire_taker",
        SelfTrade::ExpireBoth => "expire_both",
    }
}

/// The word in answers; a date stands beside it.
pub(super) const fn time_in_force(time: TimeInForce) -> &'static str {
    match time {
        TimeInForce::GoodTillCancel => "gtc",
        TimeInForce::GoodTillDate(_) => "gtd",
        TimeInForce::ImmediateOrCancel => "ioc",
        TimeInForce::FillOrKill => "fok",
        TimeInForce::PostOnly => "post_only",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_by_the_word_it_is_shown_with() {
        for (word, choice) in SIDES {
            assert_eq!(
                (side(choice), chosen(&SIDES, word.as_bytes())),
                (word, Some(choice))
            );
        }
        for (word, mode) in SELF_TRADES {
            let capitals = word.to_ascii_uppercase();
            let found = chosen(&SELF_TRADES, capitals.as_bytes());
            assert_eq!((self_trade(mode), found), (word, Some(mode)));
        }
    }
}
