//! Why a booking is cancelled by somebody other than its guest.

use crate::text::short_text;

short_text! {
    /// Why a manager cancels a booking for its guest: 1 to 200 characters, none of them a control
    /// character. It stands in the journal and in events, so it should name no id number.
    CancelReason, InvalidCancelReason: "a reason", 200, "guest phoned"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_one_to_two_hundred_characters() {
        let parsed = |text: &str| CancelReason::parse(text.as_bytes()).map(|_reason| ());
        assert_eq!(parsed(&"\u{e9}".repeat(200)), Ok(()));
        let longer = parsed(&"\u{e9}".repeat(201)).unwrap_err();
        assert_eq!(longer, InvalidCancelReason::TooLong(201));
        assert_eq!(
            longer.to_string(),
            "a reason has at most 200 characters, this one has 201"
        );
        assert_eq!(parsed(""), Err(InvalidCancelReason::Empty));
        assert_eq!(
            parsed("a\u{1b}[2J"),
            Err(InvalidCancelReason::ControlCharacter)
        );
    }
}
