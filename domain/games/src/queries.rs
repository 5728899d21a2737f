//! Answers from the state as it is.

use turnstile_types::Timestamp;

use crate::{
    Answer, Game, Games, Leader, MatchId, Measure, Opponent, PlayerId, PlayerView, Query, Rung,
    TicketView, arena::Presence, limits, scores::Scores,
};

pub(crate) fn answer(games: &Games, now: Timestamp, query: &Query) -> Answer {
    let (arena, scores) = (&games.arena, &games.scores);
    match *query {
        Query::Match { match_id } => {
            let slot = arena.matches.find(match_id);
            Answer::Match(slot.map(|slot| arena.view(slot)))
        }
        Query::Matches { after, limit } => matches(games, after, limit),
        Query::Player { player } => {
            let number = arena.guests.find(&player);
            Answer::Player(number.map(|number| PlayerView {
                connected: arena.guests.at(number).presence == Presence::Here,
                activity: arena.activity(now, number),
            }))
        }
        Query::Tickets { game } => Answer::Tickets(tickets(games, now, game)),
        Query::Standing { player } => {
            let number = scores.records.find(&player);
            Answer::Standing(number.map(|number| scores.standing(number)))
        }
        Query::Against { player, opponent } => against(scores, &player, &opponent),
        Query::Opponents {
            player,
            cursor,
            limit,
        } => scores.opponents(&player, cursor, page(limit)),
        Query::Leaders {
            measure,
            cursor,
            limit,
        } => scores.leaders(measure, cursor, page(limit)),
        Query::Around {
            measure,
            player,
            each_side,
        } => scores.around(measure, &player, u32::from(each_side)),
        Query::Totals => Answer::Totals(games.totals()),
    }
}

/// How many members a page has that was asked for so.
fn page(limit: u16) -> usize {
    usize::from(limit.clamp(1, limits::PAGE_MAX))
}

fn matches(games: &Games, after: Option<MatchId>, limit: u16) -> Answer {
    let matches = &games.arena.matches;
    let slots = matches.open_after(after.unwrap_or_default());
    let views = slots.take(page(limit)).map(|slot| games.arena.view(slot));
    Answer::Matches(views.collect())
}

fn tickets(games: &Games, now: Timestamp, game: Game) -> Vec<TicketView> {
    let tickets = games.arena.queue(game).tickets().iter();
    tickets
        .filter_map(|ticket| games.arena.ticket(now, ticket.player, game))
        .collect()
}

fn against(scores: &Scores, player: &PlayerId, opponent: &PlayerId) -> Answer {
    let numbers = scores
        .records
        .find(player)
        .zip(scores.records.find(opponent));
    let tally = numbers.and_then(|(number, other)| {
        let pair = scores.pairs.at(scores.pairs.find([number, other])?);
        Some(pair.tally(pair.seat_of(number)))
    });
    Answer::Against(tally)
}

impl Scores {
    fn opponents(&self, player: &PlayerId, cursor: Option<Opponent>, limit: usize) -> Answer {
        let nobody = Answer::Opponents {
            page: Vec::new(),
            next: None,
        };
        let Some(number) = self.records.find(player) else {
            return nobody;
        };
        let from = match cursor {
            None => self.records.at(number).newest_pair,
            Some(Opponent(row)) => row,
        };
        // A cursor comes from outside: it must be a pair of this very player.
        let of_player = |row: u32| self.pairs.get(row).is_some_and(|pair| pair.has(number));
        if !of_player(from) {
            return nobody;
        }
        let mut chain = self.pairs.chain(number, from);
        let opponent = |pair: &crate::scores::pairs::Pair| {
            let seat = pair.seat_of(number);
            let id = self.records.id(*seat.other().of(&pair.players));
            (id, pair.tally(seat))
        };
        let page = chain.by_ref().take(limit);
        let page = page.map(|(_, pair)| opponent(pair)).collect();
        let next = chain.next().map(|(row, _)| Opponent(row));
        Answer::Opponents { page, next }
    }

    fn leaders(&self, measure: Measure, cursor: Option<Rung>, limit: usize) -> Answer {
        let ladder = self.ladder(measure);
        let before = cursor.map_or(0, |rung| {
            let here = ladder.before((rung.score, rung.number));
            let stands =
                ladder.at(here) == Some(rung.number) && ladder.score(rung.number) == rung.score;
            here + u32::from(stands)
        });
        let page: Vec<Leader> = self.places(measure, before..).take(limit).collect();
        let shown = u32::try_from(page.len()).expect("a page is short");
        let more = before + shown < ladder.len();
        let last = (before + shown).checked_sub(1).filter(|_| more);
        let next = last.and_then(|place| ladder.at(place)).map(|number| Rung {
            score: ladder.score(number),
            number,
        });
        Answer::Leaders { page, next }
    }

    fn around(&self, measure: Measure, player: &PlayerId, each_side: u32) -> Answer {
        let ladder = self.ladder(measure);
        let each_side = each_side.min(u32::from(limits::PAGE_MAX) / 2);
        let number = self.records.find(player);
        Answer::Around(number.map(|number| {
            let before = ladder.before((ladder.score(number), number));
            let places = before.saturating_sub(each_side)..=before + each_side;
            self.places(measure, places).collect()
        }))
    }

    /// Those who stand behind so many others, as far as there are any.
    fn places(
        &self,
        measure: Measure,
        before: impl IntoIterator<Item = u32>,
    ) -> impl Iterator<Item = Leader> {
        let numbers = before
            .into_iter()
            .map_while(move |before| Some((before, self.ladder(measure).at(before)?)));
        numbers.map(|(before, number)| Leader {
            place: before + 1,
            player: self.records.id(number),
            standing: self.standing(number),
        })
    }
}
