//! The line between an arena and its scores, to the byte.

use turnstile_games::{
    Command, Game, MatchId, MatchResult, Parcel, PlayerId, Standing, Tally, Verdict,
};
use turnstile_parcels::{Broken, Commands, put_command};

/// The opening, a result, and its acknowledgement.
const OPENING: &str = "747367616d65 0100";
const DELIVERED: &str = "20000000 22 0700000000000000 0200000000000000 0500000000000000 \
                         01 0161 023137 02";
const ACKNOWLEDGED: &str = "3b000000 21 0200000000000000 \
                            0300000000000000 0100000000000000 0000000000000000 00 \
                            0100000000000000 0000000000000000 0000000000000000 00";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn delivered() -> Command {
    Command::Deliver(Parcel {
        arena: 7,
        number: 2,
        result: MatchResult {
            match_id: MatchId(5),
            game: Game::TicTacToe,
            players: ["a", "17"].map(|name| PlayerId::parse(name.as_bytes()).unwrap()),
            verdict: Verdict::SecondWon,
        },
    })
}

fn acknowledged() -> Command {
    let standing = |played, won, lost| Standing {
        tally: Tally::of(played, won, lost).unwrap(),
        ratings: None,
    };
    Command::Acknowledge {
        number: 2,
        standings: [standing(4, 3, 1), standing(1, 1, 0)],
    }
}

#[test]
fn each_frame_has_its_bytes_and_is_read_back() {
    let mut line = Vec::new();
    let mut arena = Commands::dialing(&mut line);
    assert_eq!(line, bytes(OPENING));
    let mut scores = Commands::answering();
    for (command, golden, reader, start) in [
        (delivered(), DELIVERED, &mut scores, OPENING),
        (acknowledged(), ACKNOWLEDGED, &mut arena, ""),
    ] {
        let mut frame = Vec::new();
        put_command(&mut frame, &command);
        assert_eq!(hex(&frame), hex(&bytes(golden)));
        let stream = [bytes(start), frame].concat();
        let length = stream.len();
        assert_eq!(reader.next(&stream), Ok(Some((command, length))));
    }
}

#[test]
fn what_is_no_frame_is_refused_with_its_reason() {
    let opened = |hex: &str| [bytes(OPENING), bytes(hex)].concat();
    let wrong_version = bytes("747367616d65 0200");
    assert_eq!(
        Commands::answering().next(&wrong_version),
        Err(Broken::Results)
    );
    for length in [0, 65_537] {
        let stream = opened(&hex(&u32::to_le_bytes(length)));
        let refused = Err(Broken::Length(length));
        assert_eq!(Commands::answering().next(&stream), refused);
    }
    // A command with a byte too many, and none that games know.
    for frame in ["02000000 12 00", "01000000 ff"] {
        let refused = Commands::answering().next(&opened(frame));
        assert!(matches!(refused, Err(Broken::Content(_))), "{refused:?}");
    }
}
