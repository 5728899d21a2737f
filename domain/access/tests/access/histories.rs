//! Random histories through the machine and its naive twin: equal outcomes, events and answers after
//! every step, the same callers let in and the same requests permitted, and a sound state.

use proptest::{collection::vec, option, prelude::*, sample::select};
use turnstile_access::{
    Access, AccessQuota, AccessRole, Answer, CertificateSubject, Command, Cursor, GrantedNames,
    NamePattern, Outcome, Query, Right, SERVICES, SecretKey, Subject,
};
use turnstile_chassis::Readable;
use turnstile_trial::{bytes_of, context};
use turnstile_types::{Machine, Principal, Timestamp};

use crate::{
    scenery::{add_key, add_principal, grant, key, key_id, name, principal, revoke, subject},
    twin::{Twin, is_permitted},
};

const START: u64 = 1_000_000;
const PRINCIPALS: [&str; 3] = ["root", "shop", "desk"];
const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const NAMES: [&str; 5] = ["hotel-1", "hotel-12", "hotel-2", "inn", "i"];
const PATTERNS: [&str; 7] = ["hotel-1", "hotel-*", "hotel-1*", "inn", "i*", "h*", "acme"];

#[derive(Clone, Debug)]
enum Act {
    Do(Command),
    Ask(Query),
    /// A listing, page by page.
    Leaf(Query),
    /// A request for something, by each principal.
    Want(u8, Right, Subject),
    Tick,
}

#[derive(Clone, Debug)]
struct Step {
    wait_ms: u64,
    principal: Principal,
    act: Act,
}

fn principals() -> impl Strategy<Value = &'static str> {
    select(vec!["root", "root", "shop", "shop", "desk", "nobody"])
}

fn roles() -> impl Strategy<Value = AccessRole> {
    let words = vec![
        "admin",
        "admin",
        "operator",
        "reader",
        "rooms.user",
        "rooms.user",
    ];
    let more = vec!["rooms.manager", "exchange.user", "seats.manager"];
    let words = [words, more].concat();
    select(words).prop_map(|word| AccessRole::read(word.as_bytes()).unwrap())
}

fn granted_names() -> impl Strategy<Value = GrantedNames> {
    let some = vec(select(PATTERNS.to_vec()), 1..4).prop_map(|texts| {
        let patterns = texts
            .iter()
            .map(|text| NamePattern::parse(text.as_bytes()).unwrap());
        GrantedNames::try_from(patterns.collect::<Vec<_>>()).unwrap()
    });
    prop_oneof![some, Just(GrantedNames::all())]
}

fn ids() -> impl Strategy<Value = &'static str> {
    select(IDS.to_vec())
}

fn subjects_of_certificates() -> impl Strategy<Value = CertificateSubject> {
    select(vec!["desk-1", "desk-2"]).prop_map(subject)
}

fn quotas() -> impl Strategy<Value = AccessQuota> {
    (option::of(1..4_u32), option::of(1..4_u32)).prop_map(|(connections, open_holds)| AccessQuota {
        connections,
        open_holds,
        ..AccessQuota::NONE
    })
}

fn instants() -> impl Strategy<Value = u64> {
    (0..400_u64).prop_map(|seconds| START + seconds * 1_000)
}

fn commands() -> impl Strategy<Value = Command> {
    prop_oneof![
        3 => principals().prop_map(add_principal),
        2 => principals().prop_map(|text| Command::RemovePrincipal { principal: name(text) }),
        6 => (principals(), roles(), granted_names()).prop_map(|(text, role, only)| Command::Grant {
            principal: name(text),
            role,
            only,
        }),
        3 => (principals(), roles())
            .prop_map(|(text, role)| Command::WithdrawGrant { principal: name(text), role }),
        8 => (principals(), ids(), option::of(instants()))
            .prop_map(|(text, id, expires)| add_key(text, id, expires)),
        // A key whose id stands for another secret.
        1 => (principals(), ids()).prop_map(|(text, id)| {
            let digest = key("other").digest();
            let (principal, key) = (name(text), key_id(id));
            Command::AddKey { principal, key, digest, name: None, expires: None }
        }),
        4 => (ids(), instants())
            .prop_map(|(id, at)| Command::ExpireKey { key: key_id(id), at: Timestamp(at) }),
        4 => ids().prop_map(revoke),
        2 => ids().prop_map(|id| Command::NoteUse { key: key_id(id) }),
        1 => (principals(), quotas())
            .prop_map(|(text, quota)| Command::SetQuota { principal: name(text), quota }),
        1 => quotas().prop_map(|quota| Command::SetDefaultQuota { quota }),
        2 => (principals(), subjects_of_certificates())
            .prop_map(|(text, subject)| Command::AddCertificate { principal: name(text), subject }),
        1 => subjects_of_certificates().prop_map(|subject| Command::RemoveCertificate { subject }),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    let cursors = || option::of(prop_oneof![0..40_u64, Just(u64::MAX)].prop_map(Cursor));
    prop_oneof![
        Just(Query::WhoAmI),
        principals().prop_map(|text| Query::GetPrincipal {
            principal: name(text)
        }),
        (cursors(), 1..3_u16).prop_map(|(cursor, limit)| Query::Principals { cursor, limit }),
        (option::of(principals()), cursors(), 1..4_u16).prop_map(|(of, cursor, limit)| {
            Query::Keys {
                principal: of.map(name),
                cursor,
                limit,
            }
        }),
        Just(Query::DefaultQuota),
        Just(Query::Totals),
    ]
}

fn subjects() -> impl Strategy<Value = Subject> {
    let names = || option::of(select(NAMES.to_vec()).prop_map(name));
    let holders = option::of(select(PRINCIPALS.to_vec()).prop_map(principal));
    let things = (names(), names(), holders).prop_map(|(first, second, holder)| Subject::Things {
        names: [first, second],
        holder,
    });
    let all = select(PRINCIPALS.to_vec()).prop_map(|holder| Subject::AllHeldBy(principal(holder)));
    prop_oneof![
        8 => things,
        1 => all,
        1 => Just(Subject::Public),
        1 => Just(Subject::All),
        1 => Just(Subject::Unknown),
        1 => Just(Subject::Caller),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let wants = (
        select(vec![1, 1, 1, 2, 5, 6]),
        select(Right::ALL.to_vec()),
        subjects(),
    );
    let act = prop_oneof![
        12 => commands().prop_map(Act::Do),
        3 => queries().prop_map(Act::Ask),
        1 => queries().prop_map(Act::Leaf),
        8 => wants.prop_map(|(service, right, subject)| Act::Want(service, right, subject)),
        1 => Just(Act::Tick),
    ];
    let waits = select(vec![0, 0, 0, 1, 999, 1_000, 60_000, 2_592_000_000]);
    let callers = select(vec!["local", "root", "shop"]).prop_map(principal);
    (waits, callers, act).prop_map(|(wait_ms, principal, act)| Step {
        wait_ms,
        principal,
        act,
    })
}

/// The machine and its twin, and where they are in their history.
struct Pair {
    fast: Access,
    slow: Twin,
    position: u64,
    now: u64,
}

impl Pair {
    /// With an administrator, who may have a key already.
    fn new(is_guarded: bool) -> Self {
        let mut pair = Self {
            fast: Access::empty(),
            slow: Twin::default(),
            position: 0,
            now: START,
        };
        let root = [
            add_principal("root"),
            grant("root", "admin", "*"),
            add_key("root", "a", None),
        ];
        let local = Principal::local();
        for command in root.iter().take(if is_guarded { 3 } else { 2 }) {
            pair.apply(&local, command);
        }
        pair.compare();
        pair
    }

    fn step(&mut self, step: &Step) {
        self.now += step.wait_ms;
        match &step.act {
            Act::Do(command) => self.apply(&step.principal, command),
            Act::Ask(query) => {
                self.ask(&step.principal, query);
            }
            Act::Leaf(query) => self.leaf(*query),
            Act::Want(service, right, subject) => self.want((*service, *right), subject),
            Act::Tick => {
                self.position += 1;
                let context = context(self.position, self.now, &step.principal);
                self.fast.tick(&context);
                self.slow.tick(&context);
            }
        }
        self.compare();
    }

    fn apply(&mut self, principal: &Principal, command: &Command) {
        self.position += 1;
        let context = context(self.position, self.now, principal);
        let before = self.fast.next_deadline();
        let untouched = before.is_none_or(|deadline| deadline > context.now);
        let state = untouched.then(|| bytes_of(&self.fast));
        let was_guarded = self.fast.is_guarded();
        let outcome = self.fast.apply(&context, command);
        assert_eq!(outcome, self.slow.apply(&context, command), "{command:?}");
        if let (Outcome::Refused(_), Some(state)) = (outcome, state) {
            assert_eq!(bytes_of(&self.fast), state, "a refusal changes nothing");
        }
        assert!(
            self.fast.is_guarded() || !was_guarded,
            "{command:?} removes the guard"
        );
    }

    fn ask(&mut self, principal: &Principal, query: &Query) -> Answer {
        let answer = self.fast.query(Timestamp(self.now), principal, query);
        assert_eq!(answer, self.slow.query(principal, query), "{query:?}");
        answer
    }

    fn leaf(&mut self, mut query: Query) {
        loop {
            let next = match self.ask(&Principal::local(), &query) {
                Answer::Principals { next, .. } | Answer::Keys { next, .. } => next,
                _ => None,
            };
            if next.is_none() {
                return;
            }
            match &mut query {
                Query::Principals { cursor, .. } | Query::Keys { cursor, .. } => *cursor = next,
                other => panic!("{other:?} has another page"),
            }
        }
    }

    /// Whether each principal is permitted the same.
    fn want(&self, (service, right): (u8, Right), subject: &Subject) {
        let (_, service_name) = SERVICES
            .iter()
            .find(|(number, _)| *number == service)
            .unwrap();
        for caller in PRINCIPALS.map(principal) {
            let grants = self.slow.grants(caller.0);
            let rights = self.fast.rights_of(&caller);
            assert_eq!(rights.is_some(), grants.is_some());
            let (Some(rights), Some(grants)) = (rights, grants) else {
                continue;
            };
            let found = rights.permits(&caller, service, right, subject);
            let expected = is_permitted(grants, &caller, (service_name, right), subject);
            assert_eq!(
                found.is_ok(),
                expected,
                "{caller} {service_name} {right:?} {subject:?}"
            );
            let all = is_permitted(grants, &caller, (service_name, right), &Subject::All);
            assert_eq!(rights.has_all(service, right), all);
            let any = is_permitted(grants, &caller, (service_name, right), &Subject::Public);
            assert_eq!(rights.has_any(service, right), any);
        }
    }

    fn compare(&mut self) {
        assert_eq!(self.fast.check(), Ok(()));
        assert_eq!(self.fast.next_deadline(), self.slow.next_deadline());
        let mut events = Vec::new();
        self.fast.drain_events(&mut |event| events.push(event));
        assert_eq!(events, std::mem::take(&mut self.slow.events));
        for id in IDS {
            self.log_in(&key(id));
        }
        for text in PRINCIPALS {
            assert_eq!(
                self.fast.quota_of(&principal(text)),
                self.slow.quota(name(text))
            );
        }
        for text in ["desk-1", "desk-2", "desk"] {
            let found = self.fast.principal_of_certificate(text);
            assert_eq!(found, self.slow.principal_of_certificate(&subject(text)));
        }
    }

    /// With the key, and with one that has another secret, now and later.
    fn log_in(&self, shown: &SecretKey) {
        let other = shown.expose().replace("ts_test", "ts_live");
        let other = SecretKey::parse(other.as_bytes()).unwrap();
        for (shown, wait_ms) in [(shown, 0), (shown, 70_000), (&other, 0)] {
            let now = Timestamp(self.now + wait_ms);
            let found = self.fast.authenticate(now, shown);
            let rights = found.as_ref().ok().map(|found| found.rights.clone());
            let found = found.map(|found| (found.principal, found.expires));
            assert_eq!(found, self.slow.authenticate(now, shown));
            if let Ok((principal, _)) = found {
                assert_eq!(rights, self.fast.rights_of(&principal));
                assert!(self.fast.is_live(now, shown.id()));
            }
        }
    }

    /// Goes on with a machine that was read from its snapshot.
    fn restore(&mut self) {
        let bytes = bytes_of(&self.fast);
        self.fast = Access::restore(&bytes).unwrap();
        assert_eq!(bytes_of(&self.fast), bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_machine_and_its_twin_agree_on_every_step(
        steps in vec(steps(), 1..70),
        restored in 0..70_usize,
        is_guarded in any::<bool>(),
    ) {
        let mut pair = Pair::new(is_guarded);
        for (number, step) in steps.iter().enumerate() {
            if number == restored {
                pair.restore();
            }
            pair.step(step);
        }
        let local = Principal::local();
        pair.ask(&local, &Query::Principals { cursor: None, limit: 100 });
        pair.ask(&local, &Query::Keys { principal: None, cursor: None, limit: 100 });
        pair.ask(&local, &Query::Totals);
    }
}
