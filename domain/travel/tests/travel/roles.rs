//! Who plays which part: decided once, before anything happens.

use turnstile_travel::{Command, Desk, Desks, Done, Outcome, Refusal, Settings, TravelRoles};

use crate::scenery::{Office, add_customer};

fn settings(coordinator: bool, desks: Desks) -> Command {
    Command::Configure(Settings {
        roles: TravelRoles { coordinator, desks },
        ..Settings::FIRST
    })
}

/// What comes of giving an office other roles than those that it has.
fn moves(office: &mut Office) -> Outcome {
    office.apply(&settings(true, Desks::only(Desk::Cars)))
}

#[test]
fn roles_move_while_nothing_has_happened() {
    let mut office = Office::new();
    assert_eq!(moves(&mut office), Outcome::Done(Done::Configured));
    let back = office.apply(&settings(true, Desks::ALL));
    assert_eq!(back, Outcome::Done(Done::Configured));
}

#[test]
fn roles_stay_once_a_transaction_was_begun_and_other_settings_still_change() {
    let mut office = Office::new();
    office.start();
    let refused = Outcome::Refused(Refusal::UnsoundSettings);
    assert_eq!(moves(&mut office), refused);
    let waits_longer = Settings {
        wait_ms: Settings::FIRST.wait_ms + 1,
        ..Settings::FIRST
    };
    let changed = office.apply(&Command::Configure(waits_longer));
    assert_eq!(changed, Outcome::Done(Done::Configured));
    office.committed([add_customer(1)]);
    assert_eq!(moves(&mut office), refused);
}
