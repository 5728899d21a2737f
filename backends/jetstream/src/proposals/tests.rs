//! Proposals and a clock that each test moves.

use super::*;

const ACKNOWLEDGEMENT: Duration = Duration::from_secs(1);

fn id(number: u64) -> ProposalId {
    ProposalId {
        node: "n1".parse().expect("a name"),
        incarnation: 1,
        number,
    }
}

/// Proposals and a clock that the test moves.
struct Bench {
    proposals: Proposals,
    now: Instant,
}

impl Bench {
    fn with(count: u64) -> Self {
        let mut proposals = Proposals::new(ACKNOWLEDGEMENT);
        for number in 1..=count {
            let added = proposals.add(id(number), Bytes::from_static(b"entry"));
            added.expect("it is small");
        }
        Self {
            proposals,
            now: Instant::now(),
        }
    }

    /// The numbers of the proposals that are published now.
    fn published(&mut self) -> Vec<u64> {
        let due = self.proposals.due(self.now);
        due.iter().map(|one| one.id.number).collect()
    }

    fn answer(&mut self, slot: u64, answer: PublishAnswer) -> Option<ProposalFate> {
        self.proposals
            .answered(self.now, PublicationSlot(slot), answer)
    }

    fn after(&mut self, millis: u64) -> &mut Self {
        self.now += Duration::from_millis(millis);
        self
    }

    /// Moves the clock to where the proposals want to be asked again, and says how far that was.
    fn go_to_next_moment(&mut self) -> u128 {
        let next = self
            .proposals
            .next_moment()
            .expect("something is waited for");
        let far = next.saturating_duration_since(self.now);
        self.now += far;
        far.as_millis()
    }
}

#[test]
fn a_proposal_is_published_once_and_waits() {
    let mut bench = Bench::with(3);
    assert_eq!(bench.published(), [1, 2, 3]);
    assert_eq!(bench.published(), [0_u64; 0]);
    assert_eq!(
        bench.answer(2, PublishAnswer::Stored(Sequence(7))),
        Some(ProposalFate::Published(id(2), Sequence(7)))
    );
    assert_eq!(bench.after(999).published(), [0_u64; 0]);
    assert_eq!(bench.proposals.retries(), 0);
}

#[test]
fn silence_is_unknown_and_one_is_tried_first() {
    let mut bench = Bench::with(3);
    bench.published();
    assert_eq!(bench.go_to_next_moment(), 1_000);
    assert_eq!(bench.published(), [0_u64; 0]);
    assert!(!bench.proposals.are_taken());
    assert_eq!(bench.go_to_next_moment(), 50);
    assert_eq!(bench.published().len(), 1);
    assert_eq!(bench.published().len(), 0);
}

#[test]
fn while_nothing_is_taken_one_after_the_other_is_tried_ever_slower() {
    let mut bench = Bench::with(3);
    bench.published();
    for slot in 1..=3 {
        assert_eq!(bench.answer(slot, PublishAnswer::Unknown), None);
    }
    let mut tried = Vec::new();
    let mut pauses = Vec::new();
    for _ in 0..7 {
        pauses.push(bench.go_to_next_moment());
        let now = bench.published();
        assert_eq!(now.len(), 1, "one at a time");
        tried.push(now[0]);
        bench.answer(now[0], PublishAnswer::Unknown);
    }
    assert_eq!(tried, [2, 3, 1, 2, 3, 1, 2]);
    assert_eq!(pauses, [50, 100, 200, 400, 500, 500, 500]);
}

#[test]
fn as_soon_as_one_is_taken_all_are_published() {
    let mut bench = Bench::with(3);
    bench.published();
    for slot in 1..=3 {
        bench.answer(slot, PublishAnswer::Unknown);
    }
    bench.go_to_next_moment();
    assert_eq!(bench.published(), [2]);
    bench.answer(2, PublishAnswer::Stored(Sequence(1)));
    assert!(bench.proposals.are_taken());
    assert_eq!(bench.published(), [1, 3]);
    assert_eq!(bench.proposals.retries(), 3);
}

#[test]
fn a_new_proposal_waits_while_nothing_is_taken() {
    let mut bench = Bench::with(1);
    bench.published();
    bench.answer(1, PublishAnswer::Unknown);
    bench
        .proposals
        .add(id(2), Bytes::new())
        .expect("it is small");
    assert_eq!(bench.published(), [0_u64; 0]);
    bench.proposals.seen(&id(1));
    assert_eq!(bench.published(), [2]);
}

#[test]
fn the_wait_for_an_acknowledgement_doubles_up_to_four_times() {
    let mut bench = Bench::with(1);
    let mut waits = Vec::new();
    for _ in 0..5 {
        assert_eq!(bench.published(), [1]);
        waits.push(bench.go_to_next_moment());
        assert_eq!(bench.published(), [0_u64; 0]);
        bench.go_to_next_moment();
    }
    assert_eq!(waits, [1_000, 2_000, 4_000, 4_000, 4_000]);
}

#[test]
fn an_answer_that_comes_late_counts() {
    let mut bench = Bench::with(1);
    bench.published();
    bench.after(1_000).published();
    let fate = bench.answer(1, PublishAnswer::Stored(Sequence(5)));
    assert_eq!(fate, Some(ProposalFate::Published(id(1), Sequence(5))));
    assert_eq!(bench.after(10_000).published(), [0_u64; 0]);
}

#[test]
fn full_is_a_refusal_only_for_the_first_try() {
    let mut bench = Bench::with(2);
    bench.published();
    let why = NotTaken::Full {
        broker: "maximum bytes exceeded".to_owned(),
    };
    let full = PublishAnswer::Full("maximum bytes exceeded".to_owned());
    assert_eq!(
        bench.answer(1, full.clone()),
        Some(ProposalFate::Refused(id(1), why))
    );
    bench.answer(2, PublishAnswer::Unknown);
    bench.go_to_next_moment();
    assert_eq!(bench.published(), [2]);
    assert_eq!(
        bench.answer(2, full),
        None,
        "its first try may be in the stream"
    );
    assert_eq!(bench.proposals.len(), 1);
    bench.go_to_next_moment();
    assert_eq!(bench.published(), [2]);
}

/// A leader whose disk is full says that it has not stored what most brokers have agreed on. The next
/// leader stores it.
#[test]
fn only_a_limit_of_the_stream_is_final_of_what_is_not_stored() {
    let full = |description: &str| PublishAnswer::Full(description.to_owned());
    for (code, description, expected) in [
        (10_077, "maximum bytes exceeded", None),
        (10_077, "maximum messages exceeded", None),
        (10_077, "maximum messages per subject exceeded", None),
        (10_023, "insufficient resources", None),
        (
            10_077,
            "write LOG_main/msgs/1.blk: no space left on device",
            Some(PublishAnswer::Unknown),
        ),
        (10_077, "", Some(PublishAnswer::Unknown)),
        (
            10_008,
            "JetStream system temporarily unavailable",
            Some(PublishAnswer::Unknown),
        ),
    ] {
        let error =
            serde_json::json!({ "code": 503, "err_code": code, "description": description });
        let payload = serde_json::json!({ "stream": "LOG_main", "seq": 0, "error": error });
        let expected = expected.unwrap_or_else(|| full(description));
        let answer = PublishAnswer::parse(payload.to_string().as_bytes());
        assert_eq!(answer, expected, "{code} {description}");
    }
    let stored = PublishAnswer::parse(br#"{"stream":"LOG_main","seq":7}"#);
    assert_eq!(stored, PublishAnswer::Stored(Sequence(7)));
    assert_eq!(PublishAnswer::parse(b"-"), PublishAnswer::Unknown);
}

#[test]
fn what_a_leader_could_not_write_stays_under_way() {
    let mut bench = Bench::with(1);
    assert_eq!(bench.published(), [1]);
    let answer = PublishAnswer::parse(
        br#"{"error":{"code":503,"err_code":10077,"description":"no space left on device"}}"#,
    );
    assert_eq!(bench.answer(1, answer), None);
    bench.go_to_next_moment();
    assert_eq!(bench.published(), [1], "under the same id");
}

#[test]
fn an_entry_that_is_too_large_is_refused_at_once() {
    let mut proposals = Proposals::new(ACKNOWLEDGEMENT);
    let bytes = Bytes::from(vec![0; ENTRY_BYTES_MAX + 1]);
    let why = NotTaken::TooLarge {
        bytes: ENTRY_BYTES_MAX + 1,
        bytes_max: ENTRY_BYTES_MAX,
    };
    assert_eq!(
        proposals.add(id(1), bytes),
        Err(ProposalFate::Refused(id(1), why))
    );
    assert_eq!(proposals.len(), 0);
}

#[test]
fn without_a_connection_nothing_is_published_and_then_everything_again() {
    let mut bench = Bench::with(2);
    bench.published();
    bench.answer(1, PublishAnswer::Stored(Sequence(1)));
    bench.proposals.disconnected();
    assert_eq!(bench.proposals.next_moment(), None);
    assert_eq!(bench.after(60_000).published(), [0_u64; 0]);
    bench.proposals.connected();
    assert_eq!(bench.published(), [1, 2]);
}

#[test]
fn what_was_seen_or_withdrawn_is_never_published_again() {
    let mut bench = Bench::with(2);
    bench.published();
    bench.proposals.seen(&id(1));
    assert!(bench.proposals.remove(&id(2)));
    assert!(!bench.proposals.remove(&id(2)));
    assert_eq!(bench.answer(1, PublishAnswer::Unknown), None);
    assert_eq!(bench.answer(2, PublishAnswer::Stored(Sequence(3))), None);
    assert_eq!(bench.after(60_000).published(), [0_u64; 0]);
    assert_eq!(bench.proposals.next_moment(), None);
}

#[test]
fn an_acknowledgement_is_told_once_also_after_the_entry() {
    let mut bench = Bench::with(1);
    bench.published();
    bench.proposals.seen(&id(1));
    let fate = Some(ProposalFate::Published(id(1), Sequence(4)));
    assert_eq!(bench.answer(1, PublishAnswer::Stored(Sequence(4))), fate);
    assert_eq!(bench.answer(1, PublishAnswer::Stored(Sequence(4))), None);
}
