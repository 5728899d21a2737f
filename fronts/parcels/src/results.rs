//! The line between an arena of games and the scores in another process: commands of games, each in a
//! frame.
//!
//! The arena says the opening, and then each result with its number, as the command that has it
//! counted. The scores answer each with the command by which the arena takes note.

use turnstile_games::{Command, Games};
use turnstile_types::Machine as _;

use crate::{
    Broken,
    frame::{put_frame, whole_frame},
};

/// What the arena says first: a name and the version of the line.
pub(crate) const OPENING: &[u8; 8] = b"tsgame\x01\0";

/// Finds the commands of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commands {
    opened: bool,
}

impl Commands {
    /// The end that is dialed: the other end says the opening.
    #[must_use]
    pub const fn answering() -> Self {
        Self { opened: false }
    }

    /// The end that dials; appends what it says first.
    #[must_use]
    pub fn dialing(out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(OPENING);
        Self { opened: true }
    }

    /// Whether a connection that begins with this byte is such a line.
    #[must_use]
    pub const fn begins_with(byte: u8) -> bool {
        byte == OPENING[0]
    }

    /// Looks at the start of `bytes`: a command, and how many bytes are to be dropped with it, or
    /// nothing while it is not whole.
    ///
    /// # Errors
    /// The peer does not speak this protocol.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Option<(Command, usize)>, Broken> {
        let mut start = 0;
        if !self.opened {
            let begun = bytes.len().min(OPENING.len());
            if bytes.get(..begun) != OPENING.get(..begun) {
                return Err(Broken::Results);
            }
            start = OPENING.len();
        }
        let Some((frame, consumed)) = whole_frame(bytes, start)? else {
            return Ok(None);
        };
        let command = Games::decode_command(frame)?;
        self.opened = true;
        Ok(Some((command, consumed)))
    }
}

/// Appends a command in its frame.
pub fn put_command(out: &mut Vec<u8>, command: &Command) {
    put_frame(out, |out| Games::encode_command(command, out));
}

#[cfg(test)]
mod tests {
    use turnstile_games::{Standing, Tally};

    use super::*;

    #[test]
    fn commands_come_out_as_they_went_in_wherever_the_stream_is_cut() {
        let standing = Standing {
            tally: Tally::NONE,
            ratings: None,
        };
        let command = |number| Command::Acknowledge {
            number,
            standings: [standing; 2],
        };
        let mut stream = Vec::new();
        assert_eq!(Commands::dialing(&mut stream), Commands { opened: true });
        for number in [1, 2] {
            put_command(&mut stream, &command(number));
        }
        for cut in 0..=stream.len() {
            let (mut commands, mut at, mut found) = (Commands::answering(), 0, Vec::new());
            for end in [cut, stream.len()] {
                while let Some((command, length)) = commands.next(&stream[at..end]).unwrap() {
                    at += length;
                    found.push(command);
                }
            }
            assert_eq!((found, at), (vec![command(1), command(2)], stream.len()));
        }
        let mut commands = Commands::answering();
        assert_eq!(commands.next(b"tsdesk"), Err(Broken::Results));
        assert!(Commands::begins_with(stream[0]) && !Commands::begins_with(b'1'));
        let mut empty = OPENING.to_vec();
        empty.extend_from_slice(&[0; 4]);
        assert_eq!(commands.next(&empty), Err(Broken::Length(0)));
    }
}
