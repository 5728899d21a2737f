//! Answers queries from the current state.

use turnstile_types::Timestamp;

use crate::{
    Absent, Answer, Game, Games, HeadToHead, Leader, MatchId, MatchView, Measure, Opponent,
    PlayerId, PlayerView, Query, Rung, Standing, Tally, TicketView, arena::Presence, limits,
    scores::Scores,
};

/// The answer about a player whom nothing is known of.
const UNKNOWN: Answer = Answer::Absent(Absent::NoSuchPlayer);

pub(crate) fn answer(games: &Games, now: Timestamp, query: &Query) -> Answer {
    let (arena, scores) = (&games.arena, &games.scores);
    match *query {
        Query::Match { match_id } => {
            let slot = arena.matches.find(match_id);
            slot.map_or(Answer::Absent(Absent::NoSuchMatch), |slot| {
                Answer::Match(arena.view(slot))
            })
        }
        Query::Matches { after, limit } => matches(games, after, limit),
        Query::Player { player } => {
            let number = arena.guests.find(&player);
            number.map_or(UNKNOWN, |number| {
                Answer::Player(PlayerView {
                    player,
                    connected: arena.guests.at(number).presence == Presence::Here,
                    activity: arena.activity(now, number),
                })
            })
        }
        Query::Tickets { game } => Answer::Tickets(tickets(games, now, game)),
        Query::Standing { player } => {
            let standing = games.standing_of(&player);
            standing.map_or(UNKNOWN, Answer::Standing)
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
        } => {
            let (page, next) = scores.leaders(measure, cursor, page(limit));
            Answer::Leaders { page, next }
        }
        Query::Around {
            measure,
            player,
            each_side,
        } => scores.around(measure, &player, u32::from(each_side)),
        Query::Totals => Answer::Totals(games.totals()),
    }
}

impl Games {
    /// How a player stands; nothing if no result of the player was counted here.
    #[must_use]
    pub fn standing_of(&self, player: &PlayerId) -> Option<Standing> {
        let number = self.scores.records.find(player)?;
        Some(self.scores.standing(number))
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
    let matches: Vec<MatchView> = views.collect();
    let is_full = matches.len() == page(limit);
    let next = matches.last().filter(|_| is_full).map(|last| last.id);
    Answer::Matches { matches, next }
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
    Answer::Against(tally.unwrap_or(Tally::NONE))
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
            HeadToHead {
                opponent: self.records.id(*seat.other().of(&pair.players)),
                tally: pair.tally(seat),
            }
        };
        let page = chain.by_ref().take(limit);
        let page = page.map(|(_, pair)| opponent(pair)).collect();
        let next = chain.next().map(|(row, _)| Opponent(row));
        Answer::Opponents { page, next }
    }

    /// A page of the leaders, and the last of them if there are more.
    pub(crate) fn leaders(
        &self,
        measure: Measure,
        cursor: Option<Rung>,
        limit: usize,
    ) -> (Vec<Leader>, Option<Rung>) {
        let ladder = self.ladder(measure);
        let before = cursor.map_or(0, |rung| {
            let here = ladder.before(rung);
            here + u32::from(ladder.behind(here).next() == Some(rung))
        });
        let mut rungs: Vec<Rung> = ladder.behind(before).take(limit + 1).collect();
        let more = rungs.len() > limit;
        rungs.truncate(limit);
        let next = rungs.last().copied().filter(|_| more);
        (self.places(before, rungs).collect(), next)
    }

    fn around(&self, measure: Measure, player: &PlayerId, each_side: u32) -> Answer {
        let ladder = self.ladder(measure);
        let each_side = each_side.min(u32::from(limits::PAGE_MAX) / 2);
        let number = self.records.find(player);
        number.map_or(UNKNOWN, |number| {
            let before = ladder.before(self.records.at(number).rung(number, measure));
            let first = before.saturating_sub(each_side);
            let shown = before + each_side + 1 - first;
            let rungs = ladder.behind(first).take(shown as usize);
            Answer::Around(self.places(first, rungs).collect())
        })
    }

    /// Those on these rungs, of which the first is behind so many others.
    fn places(
        &self,
        before: u32,
        rungs: impl IntoIterator<Item = Rung>,
    ) -> impl Iterator<Item = Leader> {
        let places = before + 1..;
        places.zip(rungs).map(|(place, rung)| Leader {
            place,
            player: self.records.id(rung.number),
            standing: self.standing(rung.number),
        })
    }
}
