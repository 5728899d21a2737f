//! The machine once more, as simple as can be: lists that are searched from end to end, and
//! nothing that is kept twice.

mod answers;
mod scores;

use turnstile_games::{
    Board, Change, Claim, Command, Deed, Done, Ending, Event, EventKind, Game, MatchId,
    MatchResult, MatchView, Outcome, PlayerId, Refusal, Seat, Settings, Source, Verdict, limits,
    play,
};
use turnstile_types::{Context, Timestamp};

use scores::Board as Scores;

#[derive(Debug)]
pub(crate) struct Twin {
    pub(crate) settings: Settings,
    pub(crate) people: Vec<Person>,
    /// All that ever began; the match with the number 1 is the first.
    pub(crate) matches: Vec<Match>,
    pub(crate) scores: Scores,
    pub(crate) events: Vec<Event>,
    pub(crate) moves: u64,
    /// Counts whatever must keep its order.
    step: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Person {
    pub(crate) id: PlayerId,
    pub(crate) here: bool,
    /// When and at which step the person left the match.
    pub(crate) away: Option<(Timestamp, u64)>,
    pub(crate) waits: Option<Wait>,
    pub(crate) rating: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wait {
    For(PlayerId, Game),
    Anybody {
        game: Game,
        rating: u32,
        since: Timestamp,
        step: u64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) id: MatchId,
    pub(crate) game: Game,
    pub(crate) players: [PlayerId; 2],
    board: Board,
    ply: u16,
    seq: u32,
    last: Option<u8>,
    offer: Option<Seat>,
    moved: (Timestamp, u64),
    pub(crate) ending: Option<Ending>,
}

type Decided = Result<Done, Refusal>;

impl Twin {
    pub(crate) fn new() -> Self {
        Self {
            settings: Settings::FIRST,
            people: Vec::new(),
            matches: Vec::new(),
            scores: Scores::default(),
            events: Vec::new(),
            moves: 0,
            step: 0,
        }
    }

    pub(crate) fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.tick(context);
        let decided = match *command {
            Command::Challenge {
                player,
                opponent,
                game,
            } => self.challenge(context, player, opponent, game),
            Command::Seek { player, game } => self.seek(context, player, game),
            Command::Withdraw { player } => match self.stop_waiting(context, &player) {
                true => Ok(Done::Withdrawn),
                false => Err(Refusal::NotWaiting),
            },
            Command::Begin { game, players } => self.begin(context, game, players),
            Command::Act {
                match_id,
                player,
                deed,
            } => self.act(context, match_id, player, deed),
            Command::Connect { player } => {
                let here = self.person(player);
                here.here = true;
                let open = self.open_match(&player);
                if let Some(index) = open {
                    self.come_back(context, index, player);
                }
                Ok(Done::Connected(open.map(|index| self.view(index))))
            }
            Command::Disconnect { player } => {
                self.lose(context, &player);
                Ok(Done::Disconnected)
            }
            Command::Restarted => {
                let here = self.people.iter().filter(|person| person.here);
                let here: Vec<PlayerId> = here.map(|person| person.id).collect();
                for player in here {
                    self.lose(context, &player);
                }
                Ok(Done::Restarted)
            }
            Command::Configure(settings) => {
                let times = [settings.move_ms, settings.grace_ms, settings.claim_ms];
                if settings.roles == self.settings.roles && !times.contains(&0) {
                    self.settings = settings;
                    Ok(Done::Configured)
                } else {
                    Err(Refusal::UnsoundSettings)
                }
            }
            Command::Report { players, verdict } => {
                if players[0] == players[1] {
                    Err(Refusal::SamePlayer)
                } else {
                    Ok(Done::Counted(self.count(
                        context,
                        Source::Foreign,
                        players,
                        verdict,
                    )))
                }
            }
            Command::Acknowledge { .. } | Command::Deliver(_) => Err(Refusal::NotHere),
        };
        decided.into()
    }

    pub(crate) fn tick(&mut self, context: &Context<'_>) {
        while let Some((at, kind, game)) = self.due()
            && at <= context.now
        {
            match kind {
                0 => {
                    let away = self.people.iter().filter(|person| person.away.is_some());
                    let first = away.min_by_key(|person| person.away).unwrap().id;
                    let index = self.open_match(&first).unwrap();
                    let winner = self.seat(index, &first).other();
                    self.end(context, index, Ending::Left { winner }, Change::Ended);
                }
                1 => {
                    let open = self.matches.iter().filter(|one| one.ending.is_none());
                    let slow = *open.min_by_key(|one| one.moved).unwrap();
                    let index = self.index(slow.id).unwrap();
                    let winner = Seat::to_move(slow.ply).other();
                    self.end(context, index, Ending::TimedOut { winner }, Change::Ended);
                }
                _ => {
                    let (_, pair) = self.meeting(Game::ALL[game]).unwrap();
                    self.start(context, Game::ALL[game], pair);
                }
            }
        }
    }

    /// What is due next: the instant, the kind, and the game where two meet.
    pub(crate) fn due(&self) -> Option<(Timestamp, u8, usize)> {
        let mut due = Vec::new();
        for person in &self.people {
            if let Some((since, _)) = person.away {
                due.push((since.plus_ms(self.settings.grace_ms), 0, 0));
            }
        }
        for one in self.matches.iter().filter(|one| one.ending.is_none()) {
            due.push((one.moved.0.plus_ms(self.settings.move_ms), 1, 0));
        }
        for (index, game) in Game::ALL.into_iter().enumerate() {
            if let Some((at, _)) = self.meeting(game) {
                due.push((at, 2, index));
            }
        }
        due.into_iter().min()
    }

    /// Tickets of a game in the order in which they came: player, rating, since.
    pub(crate) fn tickets(&self, game: Game) -> Vec<(PlayerId, u32, Timestamp)> {
        let mut tickets = Vec::new();
        for person in &self.people {
            if let Some(Wait::Anybody {
                game: wanted,
                rating,
                since,
                step,
            }) = person.waits
                && wanted == game
            {
                tickets.push((step, (person.id, rating, since)));
            }
        }
        tickets.sort_by_key(|&(step, _)| step);
        tickets.into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// The instant at which the next two meet, and who.
    fn meeting(&self, game: Game) -> Option<(Timestamp, [PlayerId; 2])> {
        let tickets = self.tickets(game);
        let mut meetings = Vec::new();
        for (place, &(older, rating, _)) in tickets.iter().enumerate() {
            for (other, &(younger, rating_of_other, since)) in
                tickets.iter().enumerate().skip(place + 1)
            {
                let difference = rating.abs_diff(rating_of_other);
                let at = first_instant(since, difference);
                meetings.push((at, difference, place, other, [older, younger]));
            }
        }
        let meeting = meetings
            .into_iter()
            .min_by_key(|&(at, apart, one, other, _)| (at, apart, one, other));
        meeting.map(|(at, .., pair)| (at, pair))
    }

    fn challenge(
        &mut self,
        context: &Context<'_>,
        player: PlayerId,
        opponent: PlayerId,
        game: Game,
    ) -> Decided {
        if player == opponent {
            return Err(Refusal::SamePlayer);
        }
        if self.waits(&player) == Some(Wait::For(opponent, game)) {
            return Ok(Done::Challenged);
        }
        self.free(&player)?;
        if self.waits(&opponent) == Some(Wait::For(player, game)) {
            return Ok(self.start(context, game, [opponent, player]));
        }
        self.person(player).waits = Some(Wait::For(opponent, game));
        self.person(opponent);
        self.tell(
            context,
            EventKind::Challenged {
                player,
                opponent,
                game,
            },
        );
        Ok(Done::Challenged)
    }

    fn seek(&mut self, context: &Context<'_>, player: PlayerId, game: Game) -> Decided {
        let seeks = |wait| matches!(wait, Some(Wait::Anybody { game: other, .. }) if other == game);
        if !seeks(self.waits(&player)) {
            self.free(&player)?;
            self.step += 1;
            let step = self.step;
            let person = self.person(player);
            person.waits = Some(Wait::Anybody {
                game,
                rating: person.rating,
                since: context.now,
                step,
            });
            self.tell(context, EventKind::Seeking { player, game });
            self.tick(context);
        }
        Ok(match self.open_match(&player) {
            Some(index) => Done::Begun(self.view(index)),
            None => Done::Seeking(self.ticket(context.now, &player)),
        })
    }

    fn begin(&mut self, context: &Context<'_>, game: Game, players: [PlayerId; 2]) -> Decided {
        if players[0] == players[1] {
            return Err(Refusal::SamePlayer);
        }
        for player in &players {
            self.free(player)?;
        }
        Ok(self.start(context, game, players))
    }

    fn start(&mut self, context: &Context<'_>, game: Game, players: [PlayerId; 2]) -> Done {
        self.step += 1;
        for player in players {
            self.person(player).waits = None;
        }
        self.matches.push(Match {
            id: MatchId(self.matches.len() as u64 + 1),
            game,
            players,
            board: Board::default(),
            ply: 0,
            seq: 0,
            last: None,
            offer: None,
            moved: (context.now, self.step),
            ending: None,
        });
        let index = self.matches.len() - 1;
        let state = self.view(index);
        let change = Change::Begun;
        self.tell(context, EventKind::Match { change, state });
        Done::Begun(state)
    }

    fn act(
        &mut self,
        context: &Context<'_>,
        match_id: MatchId,
        player: PlayerId,
        deed: Deed,
    ) -> Decided {
        let index = self.index(match_id).ok_or(Refusal::NoSuchMatch)?;
        let one = self.matches[index];
        if !one.players.contains(&player) {
            return Err(Refusal::NotSeated);
        }
        let state = Box::new(self.view(index));
        if one.ending.is_some() {
            return Err(Refusal::Over(state));
        }
        let seat = self.seat(index, &player);
        let change = match deed {
            Deed::Move { ply, choice, claim } => {
                return self.make_move(context, index, seat, (ply, choice, claim));
            }
            Deed::OfferDraw if one.offer == Some(seat) => return Err(Refusal::OfferStands),
            Deed::AcceptDraw | Deed::DeclineDraw if one.offer != Some(seat.other()) => {
                return Err(Refusal::NoOffer);
            }
            Deed::Abort if one.ply >= 2 => return Err(Refusal::TooLate),
            Deed::ClaimWin => {
                self.may_claim(context.now, index, seat)?;
                Err(Ending::Claimed { winner: seat })
            }
            Deed::OfferDraw if one.offer.is_none() => {
                Ok((Some(seat), Change::DrawOffered { seat }))
            }
            Deed::DeclineDraw => Ok((None, Change::DrawDeclined { seat })),
            Deed::OfferDraw | Deed::AcceptDraw => Err(Ending::Agreed),
            Deed::Resign => Err(Ending::Resigned {
                winner: seat.other(),
            }),
            Deed::Abort => Err(Ending::Aborted),
        };
        self.come_back(context, index, player);
        match change {
            Ok((offer, change)) => {
                self.matches[index].offer = offer;
                self.change(context, index, change);
            }
            Err(ending) => self.end(context, index, ending, Change::Ended),
        }
        Ok(Done::Acted(self.view(index)))
    }

    fn make_move(
        &mut self,
        context: &Context<'_>,
        index: usize,
        seat: Seat,
        (ply, choice, claim): (u16, u8, Option<Claim>),
    ) -> Decided {
        let one = self.matches[index];
        let state = Box::new(self.view(index));
        if ply != one.ply {
            return Err(Refusal::Stale(state));
        }
        if seat != [Seat::First, Seat::Second][usize::from(ply % 2)] {
            return Err(Refusal::NotYourTurn(state));
        }
        let played = play(one.game, &one.board, seat, choice).map_err(Refusal::IllegalMove)?;
        let truth = match played.verdict {
            None => Claim::Ordinary,
            Some(Verdict::Drawn) => Claim::Fills,
            Some(_) => Claim::Wins,
        };
        if claim.is_some_and(|claim| claim != truth) {
            return Err(Refusal::FalseClaim);
        }
        let player = one.players[usize::from(ply % 2)];
        self.come_back(context, index, player);
        self.step += 1;
        self.moves += 1;
        let one = &mut self.matches[index];
        one.board = played.board;
        one.ply += 1;
        one.last = Some(played.cell);
        one.moved = (context.now, self.step);
        one.offer = one.offer.filter(|&by| by == seat);
        let change = Change::Moved { seat };
        match played.verdict {
            None => self.change(context, index, change),
            Some(Verdict::Drawn) => self.end(context, index, Ending::Full, change),
            Some(_) => self.end(context, index, Ending::Line { winner: seat }, change),
        }
        Ok(Done::Acted(self.view(index)))
    }

    fn may_claim(&self, now: Timestamp, index: usize, seat: Seat) -> Result<(), Refusal> {
        let one = &self.matches[index];
        let other = seat.other();
        let other_id = one.players[other as usize];
        let mut since = Vec::new();
        since.extend(self.find(&other_id).and_then(|person| Some(person.away?.0)));
        if Seat::to_move(one.ply) == other {
            since.push(one.moved.0);
        }
        let since = since.into_iter().min().ok_or(Refusal::NothingToClaim)?;
        let until = since.plus_ms(self.settings.claim_ms);
        if now < until {
            return Err(Refusal::TooEarly { until });
        }
        Ok(())
    }

    fn end(&mut self, context: &Context<'_>, index: usize, ending: Ending, change: Change) {
        let one = self.matches[index];
        for player in one.players {
            self.person(player).away = None;
        }
        self.matches[index].ending = Some(ending);
        self.matches[index].offer = None;
        self.change(context, index, change);
        let Some(verdict) = ending.verdict() else {
            return;
        };
        let MatchResult {
            match_id, players, ..
        } = MatchResult {
            match_id: one.id,
            game: one.game,
            players: one.players,
            verdict,
        };
        let standings = self.count(context, Source::Here { match_id }, players, verdict);
        for (player, standing) in players.into_iter().zip(standings) {
            self.person(player).rating = standing.ratings.unwrap().glicko.points();
        }
        self.tell(
            context,
            EventKind::Scored {
                match_id,
                players,
                standings,
            },
        );
    }

    fn count(
        &mut self,
        context: &Context<'_>,
        source: Source,
        players: [PlayerId; 2],
        verdict: Verdict,
    ) -> [turnstile_games::Standing; 2] {
        self.scores.results.push((players, verdict));
        let standings = players.map(|player| self.scores.standing(&player).unwrap());
        self.tell(
            context,
            EventKind::Counted {
                source,
                players,
                verdict,
                standings,
            },
        );
        standings
    }

    fn come_back(&mut self, context: &Context<'_>, index: usize, player: PlayerId) {
        let person = self.person(player);
        if person.away.take().is_some() {
            person.here = true;
            let seat = self.seat(index, &player);
            self.change(context, index, Change::Returned { seat });
        }
    }

    fn lose(&mut self, context: &Context<'_>, player: &PlayerId) {
        let Some(person) = self.find(player).copied() else {
            return;
        };
        if person.away.is_some() {
            return;
        }
        self.step += 1;
        let step = self.step;
        self.person(*player).here = false;
        if let Some(index) = self.open_match(player) {
            self.person(*player).away = Some((context.now, step));
            let seat = self.seat(index, player);
            self.change(context, index, Change::Left { seat });
        } else {
            self.stop_waiting(context, player);
        }
    }

    fn stop_waiting(&mut self, context: &Context<'_>, player: &PlayerId) -> bool {
        let waited = self.waits(player).is_some();
        if waited {
            self.person(*player).waits = None;
            let player = *player;
            self.tell(context, EventKind::Withdrawn { player });
        }
        waited
    }

    fn free(&self, player: &PlayerId) -> Result<(), Refusal> {
        let player = *player;
        if let Some(index) = self.open_match(&player) {
            let match_id = self.matches[index].id;
            return Err(Refusal::Playing { player, match_id });
        }
        match self.waits(&player) {
            Some(_) => Err(Refusal::Waiting { player }),
            None => Ok(()),
        }
    }

    fn waits(&self, player: &PlayerId) -> Option<Wait> {
        self.find(player)?.waits
    }

    pub(crate) fn find(&self, player: &PlayerId) -> Option<&Person> {
        self.people.iter().find(|person| person.id == *player)
    }

    fn person(&mut self, id: PlayerId) -> &mut Person {
        let known = self.people.iter().position(|person| person.id == id);
        let index = known.unwrap_or_else(|| {
            self.people.push(Person {
                id,
                here: false,
                away: None,
                waits: None,
                rating: 1_500,
            });
            self.people.len() - 1
        });
        &mut self.people[index]
    }

    pub(crate) fn open_match(&self, player: &PlayerId) -> Option<usize> {
        let plays = |one: &Match| one.ending.is_none() && one.players.contains(player);
        self.matches.iter().position(plays)
    }

    pub(crate) fn index(&self, id: MatchId) -> Option<usize> {
        self.matches.iter().position(|one| one.id == id)
    }

    fn seat(&self, index: usize, player: &PlayerId) -> Seat {
        if self.matches[index].players[0] == *player {
            Seat::First
        } else {
            Seat::Second
        }
    }

    pub(crate) fn view(&self, index: usize) -> MatchView {
        let one = self.matches[index];
        let away = |player: PlayerId| {
            let since = self.find(&player)?.away?.0;
            one.ending.is_none().then_some(since)
        };
        MatchView {
            id: one.id,
            game: one.game,
            players: one.players,
            board: one.board,
            ply: one.ply,
            seq: one.seq,
            last: one.last,
            offer: one.offer,
            away: one.players.map(away),
            moved_at: one.moved.0,
            ending: one.ending,
        }
    }

    fn change(&mut self, context: &Context<'_>, index: usize, change: Change) {
        self.matches[index].seq += 1;
        let state = self.view(index);
        self.tell(context, EventKind::Match { change, state });
    }

    fn tell(&mut self, context: &Context<'_>, kind: EventKind) {
        let same = self.events.iter();
        let same = same.filter(|event| event.position == context.position);
        let ordinal = u32::try_from(same.count()).unwrap();
        self.events.push(Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
        });
    }
}

/// When somebody who began to wait then lets in whoever is so far apart.
pub(crate) fn first_instant(since: Timestamp, difference: u32) -> Timestamp {
    let mut at = since;
    let mut window = limits::WINDOW;
    while window < difference && window < limits::WINDOW_MAX {
        window += limits::WIDENING;
        at = at.plus_ms(limits::WIDENING_MS);
    }
    at
}
