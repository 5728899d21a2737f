//! Streams cut anywhere, and streams of anything.

use proptest::prelude::*;
use turnstile_parcels::{Broken, Frames, Hello, Message, MessageScan, put_message, put_opening};
use turnstile_travel::Desk;

/// Reads a stream that comes in pieces of these lengths: what was found, and how it broke.
fn read(stream: &[u8], cuts: &[usize]) -> (Vec<String>, Option<Broken>) {
    let mut frames = Frames::default();
    let (mut found, mut start, mut end) = (Vec::new(), 0, 0);
    let mut cuts = cuts.iter().copied().cycle();
    while end < stream.len() {
        end = stream.len().min(end + cuts.next().expect("it goes round"));
        loop {
            match frames.next(&stream[start..end]) {
                Err(broken) => return (found, Some(broken)),
                Ok(MessageScan::Message { message, consumed }) => {
                    found.push(format!("{message:?}"));
                    start += consumed;
                }
                Ok(MessageScan::Incomplete { skipped }) => {
                    start += skipped;
                    break;
                }
            }
        }
    }
    (found, None)
}

fn messages() -> Vec<Message<'static>> {
    let hello = Hello {
        desk: Desk::Flights,
        life: 1,
        fault_points: false,
    };
    vec![
        Message::Hello(hello),
        Message::FaultPoint { mode: 3 },
        Message::Refusal("because"),
        Message::Shutdown,
    ]
}

proptest! {
    #[test]
    fn a_stream_means_the_same_wherever_it_is_cut(
        cuts in prop::collection::vec(1_usize..9, 1..9),
        hostile in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut stream = Vec::new();
        put_opening(&mut stream);
        for message in messages() {
            put_message(&mut stream, message);
        }
        stream.extend_from_slice(&hostile);
        let whole = read(&stream, &[stream.len()]);
        let told: Vec<String> = messages().iter().map(|message| format!("{message:?}")).collect();
        prop_assert_eq!(&whole.0[..told.len()], &told[..]);
        prop_assert_eq!(read(&stream, &cuts), whole);
    }
}
