//! Whether the time of a comparison tells anything about a key: `timing [SAMPLES]` (1,000,000 of each kind).
//!
//! Each claim is about two kinds of input. Samples of both are taken in random order, the slowest
//! twentieth is left out, and Welch's t says how surely the two means differ. Beyond 4.5 they do: so it is
//! judged since *Dude, is my code constant time?* (Reparaz, Balasch, Verbauwhede, 2017). The control, a
//! comparison that ends at the first difference, must be found out, or the program could not see anything.

#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a program that measures reads the clock and prints figures"
)]

use std::{hint::black_box, process::ExitCode, time::Instant};

use turnstile_access::{Access, AccessRole, Command, GrantedNames, KeyDigest, SecretKey};
use turnstile_types::{Context, Machine, Name, Position, Principal, Timestamp};

/// Beyond this, two means differ.
const FOUND: f64 = 4.5;

/// Inputs of each kind, used in turns.
const INPUTS: usize = 64;

/// A small generator of random numbers: xorshift.
struct XorShift(u64);

impl XorShift {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self) -> [u8; 32] {
        std::array::from_fn(|_| self.roll().to_le_bytes()[3])
    }
}

/// What one kind of input takes, without its slowest samples.
struct TimedInputs {
    mean: f64,
    /// Of the mean, squared.
    error: f64,
}

impl TimedInputs {
    fn of(mut nanoseconds: Vec<u64>) -> Self {
        nanoseconds.sort_unstable();
        nanoseconds.truncate(nanoseconds.len() * 19 / 20);
        let count = nanoseconds.len() as f64;
        let mean = nanoseconds.iter().sum::<u64>() as f64 / count;
        let squares = nanoseconds.iter().map(|&one| (one as f64 - mean).powi(2));
        Self {
            mean,
            error: squares.sum::<f64>() / (count - 1.0) / count,
        }
    }
}

/// Measures two kinds of input, and prints their means and Welch's t; answers t. `place` puts an input
/// where it is read: every one at the same place, so that no kind lies better than the other.
fn compare<T, P>(
    what: &str,
    (samples, calls): (usize, u32),
    inputs: &[Vec<T>; 2],
    place: impl Fn(&T) -> P,
    call: impl Fn(&P),
) -> f64 {
    let mut dice = XorShift(0x9e37_79b9_7f4a_7c15);
    let mut taken = [Vec::new(), Vec::new()];
    while taken.iter().any(|taken| taken.len() < samples) {
        let random = dice.roll();
        let kind = usize::from(random & 1 == 1);
        let number = usize::try_from(random >> 8).unwrap_or(0) % INPUTS;
        let input = place(&inputs[kind][number]);
        let begun = Instant::now();
        for _ in 0..calls {
            call(black_box(&input));
        }
        let nanoseconds = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if taken[kind].len() < samples {
            taken[kind].push(nanoseconds);
        }
    }
    let [first, second] = taken.map(TimedInputs::of);
    let t = (first.mean - second.mean) / (first.error + second.error).sqrt();
    let each = f64::from(calls);
    println!(
        "| {what} | {:.3} | {:.3} | {t:.2} |",
        first.mean / each,
        second.mean / each
    );
    t.abs()
}

/// Digests that differ from one in their first byte, and such that differ in their last.
fn digests(of: [u8; 32]) -> [Vec<[u8; 32]>; 2] {
    [0, 31].map(|place| {
        let changes = (1..=INPUTS).map(|change| {
            let mut digest = of;
            digest[place] ^= u8::try_from(change).unwrap_or(1);
            digest
        });
        changes.collect()
    })
}

fn parsed(digest: &[u8; 32]) -> KeyDigest {
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    KeyDigest::parse(digits.as_bytes()).expect("64 digits")
}

/// A directory with many keys of one principal; answers some of them too.
fn directory(dice: &mut XorShift) -> (Access, Vec<SecretKey>) {
    let mut access = Access::empty();
    let principal = Name::parse(b"root").expect("a name");
    let keys: Vec<SecretKey> = (0..INPUTS).map(|_| key(dice)).collect();
    let mut commands = vec![
        Command::AddPrincipal { principal },
        Command::Grant {
            principal,
            role: AccessRole::Admin,
            only: GrantedNames::all(),
        },
    ];
    commands.extend(keys.iter().map(|key| Command::AddKey {
        principal,
        key: key.id(),
        digest: key.digest(),
        name: None,
        expires: None,
    }));
    for (position, command) in (1..).zip(&commands) {
        let context = Context {
            position: Position(position),
            now: Timestamp(0),
            principal: &Principal::local(),
        };
        let outcome = access.apply(&context, command);
        assert!(outcome.done().is_some(), "{outcome:?}");
    }
    (access, keys)
}

fn key(dice: &mut XorShift) -> SecretKey {
    let id = dice.roll().to_be_bytes();
    SecretKey::new("live", id, dice.bytes()).expect("`live` names an environment")
}

/// What a comparison must not be.
fn is_equal_until_one_differs(shown: &[u8; 32], expected: &[u8; 32]) -> bool {
    let mut pairs = shown.iter().zip(expected);
    pairs.all(|(shown, expected)| black_box(shown) == black_box(expected))
}

/// The text of a key with another secret, which differs in its first or in its last character.
fn spoilt(key: &SecretKey, at_end: bool) -> Vec<u8> {
    let mut text = key.expose().as_bytes().to_vec();
    let place = if at_end {
        text.len() - 1
    } else {
        text.len() - 52
    };
    text[place] = if text[place] == b'a' { b'b' } else { b'a' };
    text
}

fn main() -> ExitCode {
    let samples = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let samples = samples.unwrap_or(1_000_000);
    let mut dice = XorShift(0x2545_f491_4f6c_dd1d);
    let secret = dice.bytes();
    let raw = digests(secret);
    let (access, keys) = directory(&mut dice);
    let now = Timestamp(1);
    println!("{samples} samples of each kind\n");
    println!("| | first kind, ns | second kind, ns | t |");
    println!("| --- | ---: | ---: | ---: |");

    let control = compare(
        "control: first byte differs, last byte differs",
        (samples, 16),
        &raw,
        |digest| *digest,
        |digest| {
            black_box(is_equal_until_one_differs(digest, black_box(&secret)));
        },
    );
    let expected = parsed(&secret);
    let shown = raw
        .each_ref()
        .map(|kind| kind.iter().map(parsed).collect::<Vec<_>>());
    let is_equal = |digest: &KeyDigest| {
        black_box(digest.is_equal(black_box(&expected)));
    };
    let places = compare(
        "digests: first byte differs, last byte differs",
        (samples, 16),
        &shown,
        |digest| *digest,
        is_equal,
    );
    let right = vec![expected; INPUTS];
    let [wrong, _] = shown;
    let same = compare(
        "digests: first byte differs, all the same",
        (samples, 16),
        &[wrong, right],
        |digest| *digest,
        is_equal,
    );

    let log_in = |key: &SecretKey| {
        black_box(access.authenticate(now, key).is_ok());
    };
    let spoilt = [false, true].map(|at_end| keys.iter().map(|key| spoilt(key, at_end)).collect());
    let characters = compare(
        "keys: first character of the secret is wrong, last is wrong",
        (samples, 4),
        &spoilt,
        |text| SecretKey::parse(text).expect("still a key"),
        log_in,
    );

    let is_found = [places, same, characters].iter().any(|t| *t > FOUND);
    println!();
    if control <= FOUND {
        println!("the control was not found out: this run says nothing");
        return ExitCode::FAILURE;
    }
    if is_found {
        println!("a difference was found");
        return ExitCode::FAILURE;
    }
    println!("the control was found out, and no other difference");
    ExitCode::SUCCESS
}
