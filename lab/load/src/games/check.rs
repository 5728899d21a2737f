//! Stewards who act for the same players, under keys, so that every answer is known in the end; all
//! checked.

use std::{io, sync::Arc};

use turnstile_check::{
    Charge, Model as _,
    games::{Club, ClubOperation, ClubRequest, ClubTotals},
    witnesses,
};
use turnstile_client::{self as client, Connection, ServerAddress, resp, resp::Value};

use crate::check::{
    Config, CountComparison, Proof, Report, Watch, compare_counts, drive_keyed, speak_resp3,
};
use crate::{
    Error,
    again::{Keyed, KeyedReply, Line},
    door::{self, ServerFacts, field},
    error::unfit,
    games::{
        PlayerNames, Steward, answer,
        plan::{CIRCLE, ContestedPlay},
        words,
    },
    pace::{Garbled, Pace, Rhythm, Think},
    reply,
    seed::Dice,
};

/// Players: as many as there are stewards, within these bounds. So each of them is wanted again and
/// again.
const PLAYERS_MIN: usize = 8;
const PLAYERS_MAX: usize = 1_000;

/// Each player must be acted for so often, at least, in seconds on average: a match that rests is ended
/// by the server's clock, after five minutes where nothing else was set.
const REST_S_MAX: f64 = 10.0;

/// The server's own counts at one instant.
#[derive(Clone, Copy, Debug)]
struct GameCounters {
    begun: u64,
    moves: u64,
    results: u64,
    open: u64,
    seeking: u64,
}

/// Whether such a load of so many users can be checked: no match rests for so long that the server's
/// clock could end it.
///
/// # Errors
/// A setting that makes no sense.
pub fn judge(pace: &Pace, users: usize) -> Result<(), Error> {
    let number = f64::from(u32::try_from(users).expect("users are at most 50,000"));
    let rate = match &pace.rhythm {
        Rhythm::Open { rate, .. } => rate.level(),
        Rhythm::Closed { think, .. } => match think {
            Think::None => None,
            Think::Fixed(pause) | Think::Exponential(pause) => Some(number / pause.as_secs_f64()),
        },
    };
    if rate.is_some_and(|rate| rate * REST_S_MAX < f64::from(players(users))) {
        return Err(Error::Setting(
            "games rest for too long at so few requests: ask for at least one in ten seconds for \
             each player, of whom there are as many as connections, 8 to 1,000",
        ));
    }
    Ok(())
}

/// Runs stewards against the server, and checks all that they are told.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell positions, or where
/// somebody plays already. What the server did wrong is in the report's proof.
pub fn run(config: &Config, watch: &mut dyn Watch) -> Result<Report, Error> {
    let players = players(config.users);
    judge(&config.pace, config.users)?;
    let address = &config.pace.address;
    let mut door = door::connect(address)?;
    speak_resp3(&mut door)?;
    let facts = door::facts(&mut door, "games")?;
    let (server, position) = (facts.server()?, facts.count("position")?);
    let before = GameCounters::of(&facts)?;
    before.nobody_plays()?;
    let names = Arc::new(PlayerNames::of_run(position, players));
    tells_positions(&mut door, &names)?;
    let (witnesses, chronicle) = witnesses(config.users, config.pace.pipeline, position);
    let steward = |(number, witness)| {
        let dice = Dice::of_user(config.pace.seed, number);
        let plan = ContestedPlay::new(dice, players, before.begun);
        let steward = Steward::new(plan, Arc::clone(&names));
        Keyed::checked(steward, witness, (position, config.pace.pipeline))
    };
    let stewards = (0..).zip(witnesses).map(steward).collect();
    let checked = (Club::new(players, before.begun), chronicle);
    let driven = drive_keyed(config, stewards, checked, watch)?;
    let replayed = &driven.model;
    let mut charge = Charge::default();
    if !replayed.is_clouded() {
        compare_players(&mut charge, address, (&names, players), replayed)?;
        let after = GameCounters::of(&door::facts(&mut door::connect_again(address)?, "games")?)?;
        compare_counts(&mut charge, &counted(before, after, replayed.totals()));
    }
    let rule = "in the end every player has the scores that the replay leaves, played = won + lost + \
                drawn, each match counted once for both, and is where the replay is, and the server's \
                counters say so";
    let clouded = replayed.is_clouded();
    let proof = Proof::new(driven.findings, driven.cost, (rule, charge), clouded);
    let totals = &driven.totals;
    Ok(Report::new("games", server, &config.pace, totals, proof))
}

/// Whole circles of them.
fn players(users: usize) -> u16 {
    let players = users.clamp(PLAYERS_MIN, PLAYERS_MAX);
    let players = u16::try_from(players).expect("players are at most 1,000");
    players.next_multiple_of(CIRCLE)
}

/// Nobody of this name waits for anything: that is refused, and must tell its position.
fn tells_positions(door: &mut Connection, names: &PlayerNames) -> Result<(), Error> {
    let refused = door.command(&[b"GAMES.WITHDRAW", names.of(0)])?;
    let said = field(&refused, "reason").and_then(Value::as_str);
    if said != Some("not_waiting") || field(&refused, "position").is_none() {
        return Err(unfit("GAMES.WITHDRAW", &refused));
    }
    Ok(())
}

/// Every player, as the server and as the replay has them.
fn compare_players(
    charge: &mut Charge,
    address: &ServerAddress,
    (names, players): (&PlayerNames, u16),
    replayed: &Club,
) -> Result<(), Error> {
    let socket = |error: io::Error| Error::from(client::ConnectionError::from(error));
    let mut line = Line::connect(address).map_err(socket)?;
    let mut request = Vec::new();
    resp::put_command(&mut request, &[b"HELLO", b"3"]);
    let mut greets = true;
    for player in 0..players {
        let first = player / CIRCLE * CIRCLE;
        let against = (first..players.min(first + CIRCLE))
            .map(|opponent| ClubRequest::Against { player, opponent });
        let own = [
            ClubRequest::Standing { player },
            ClubRequest::Player { player },
        ];
        for ask in own.into_iter().chain(against) {
            words::put(&mut request, &ask, 0, names);
            let hear = |bytes: &[u8]| -> Result<Option<ClubOperation>, Garbled> {
                let Some(whole) = reply::whole(bytes, greets)? else {
                    return Ok(None);
                };
                match answer::told(&bytes[whole], &ask, names)? {
                    KeyedReply::Answered { answer, .. } => Ok(Some(ClubOperation { ask, answer })),
                    KeyedReply::Error(_) | KeyedReply::Waits => Err(Garbled),
                }
            };
            let found = line.ask(&request, hear).map_err(socket)?;
            if !replayed.agrees(&found) {
                let (answer, shown) = (found.answer, replayed.shown(&found));
                charge.add(|| format!("{ask:?} is answered {answer:?}, by the replay {shown}"));
            }
            request.clear();
            greets = false;
        }
    }
    Ok(())
}

impl GameCounters {
    fn of(facts: &ServerFacts) -> Result<Self, Error> {
        Ok(Self {
            begun: facts.count("games_matches_total")?,
            moves: facts.count("games_moves_total")?,
            results: facts.count("games_results_total")?,
            open: facts.count("games_open_matches")?,
            seeking: facts.count("games_seeking")?,
        })
    }

    /// Whoever waits here would be matched with the run's players, and matches of others end by the
    /// clock.
    fn nobody_plays(self) -> Result<(), Error> {
        if self.open + self.seeking == 0 {
            return Ok(());
        }
        Err(Error::Preparation {
            command: "INFO",
            answer: format!(
                "{} open matches and {} who seek: another client plays there",
                self.open, self.seeking
            ),
        })
    }
}

fn counted(
    before: GameCounters,
    after: GameCounters,
    replayed: ClubTotals,
) -> [CountComparison; 5] {
    [
        ("matches", before.begun, after.begun, replayed.begun),
        ("moves", before.moves, after.moves, replayed.moves),
        ("results", before.results, after.results, replayed.results),
        ("open matches", before.open, after.open, replayed.open),
        ("who seek", before.seeking, after.seeking, replayed.seeking),
    ]
}
