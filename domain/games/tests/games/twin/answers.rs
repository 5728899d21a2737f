//! What the twin answers to questions.

use turnstile_games::{
    Absent, ActivityView, Answer, MatchId, MatchView, PlayerId, PlayerView, Query, Tally,
    TicketView, Totals, WaitReason, limits,
};
use turnstile_types::Timestamp;

use super::{Twin, Wait, first_instant};

/// The answer about a player whom nothing is known of.
const UNKNOWN: Answer = Answer::Absent(Absent::NoSuchPlayer);

impl Twin {
    /// Pages begin where the machine says; they are followed by `histories`.
    pub(crate) fn query(&self, now: Timestamp, query: &Query) -> Answer {
        match *query {
            Query::Match { match_id } => {
                let index = self.index(match_id);
                index.map_or(Answer::Absent(Absent::NoSuchMatch), |index| {
                    Answer::Match(self.view(index))
                })
            }
            Query::Matches { after, limit } => self.open(after, limit),
            Query::Player { player } => {
                let view = self.find(&player).map(|person| PlayerView {
                    player,
                    connected: person.here,
                    activity: self.activity(now, &player),
                });
                view.map_or(UNKNOWN, Answer::Player)
            }
            Query::Tickets { game } => {
                let tickets = self.tickets(game).into_iter();
                Answer::Tickets(tickets.map(|(id, ..)| self.ticket(now, &id)).collect())
            }
            Query::Standing { player } => {
                let standing = self.scores.standing(&player);
                standing.map_or(UNKNOWN, Answer::Standing)
            }
            Query::Against { player, opponent } => {
                let tally = self.scores.against(&player, &opponent);
                Answer::Against(tally.unwrap_or(Tally::NONE))
            }
            Query::Around {
                measure,
                player,
                each_side,
            } => {
                let ladder = self.scores.ladder(measure);
                let place = ladder.iter().position(|leader| leader.player == player);
                place.map_or(UNKNOWN, |place| {
                    let from = place.saturating_sub(usize::from(each_side));
                    let to = ladder.len().min(place + usize::from(each_side) + 1);
                    Answer::Around(ladder[from..to].to_vec())
                })
            }
            Query::Totals => Answer::Totals(self.totals()),
            Query::Opponents { .. } | Query::Leaders { .. } => {
                panic!("pages are followed from the first to the last")
            }
        }
    }

    fn open(&self, after: Option<MatchId>, limit: u16) -> Answer {
        let all = self.matches.iter().enumerate();
        let open = all.filter(|(_, one)| one.ending.is_none() && Some(one.id) > after);
        let matches: Vec<MatchView> = open
            .take(usize::from(limit))
            .map(|(index, _)| self.view(index))
            .collect();
        let last = matches.get(usize::from(limit) - 1);
        let next = last.map(|last| last.id);
        Answer::Matches { matches, next }
    }

    fn activity(&self, now: Timestamp, player: &PlayerId) -> ActivityView {
        if let Some(index) = self.open_match(player) {
            return ActivityView::Playing(self.view(index));
        }
        match self.find(player).unwrap().waits {
            None => ActivityView::Idle,
            Some(Wait::For(opponent, game)) => ActivityView::Challenging { opponent, game },
            Some(Wait::Anybody { .. }) => ActivityView::Seeking(self.ticket(now, player)),
        }
    }

    pub(crate) fn ticket(&self, now: Timestamp, player: &PlayerId) -> TicketView {
        let Some(Wait::Anybody {
            game,
            rating,
            since,
            step,
        }) = self.find(player).unwrap().waits
        else {
            panic!("{player} looks for nobody");
        };
        let (mut window, mut widens_at) = (limits::WINDOW, since.plus_ms(limits::WIDENING_MS));
        while widens_at <= now {
            window = (window + limits::WIDENING).min(limits::WINDOW_MAX);
            widens_at = widens_at.plus_ms(limits::WIDENING_MS);
        }
        let mut meetings = Vec::new();
        for (other, rating_of_other, since_of_other) in self.tickets(game) {
            if other != *player {
                let difference = rating.abs_diff(rating_of_other);
                let Some(Wait::Anybody {
                    step: step_of_other,
                    ..
                }) = self.find(&other).unwrap().waits
                else {
                    panic!("{other} has a ticket");
                };
                let younger = if step > step_of_other {
                    since
                } else {
                    since_of_other
                };
                meetings.push((first_instant(younger, difference), difference));
            }
        }
        TicketView {
            player: *player,
            game,
            rating,
            since,
            window,
            widens_at: (window < limits::WINDOW_MAX).then_some(widens_at),
            reason: meetings.into_iter().min().map_or(
                WaitReason::Alone,
                |(matched_at, difference)| WaitReason::TooFarApart {
                    difference,
                    matched_at,
                },
            ),
        }
    }

    fn totals(&self) -> Totals {
        let count = |number: usize| u32::try_from(number).unwrap();
        let open = self.matches.iter().filter(|one| one.ending.is_none());
        let seeks = |wait: &Wait| matches!(wait, Wait::Anybody { .. });
        let seeking = self.people.iter().filter_map(|person| person.waits);
        let away = self.people.iter().filter(|person| person.away.is_some());
        Totals {
            players: count(self.people.len()),
            open: count(open.count()),
            begun: self.matches.len() as u64,
            moves: self.moves,
            seeking: count(seeking.filter(seeks).count()),
            away: count(away.count()),
            unreported: 0,
            rated: count(self.scores.all().len()),
            results: self.scores.results.len() as u64,
        }
    }
}
