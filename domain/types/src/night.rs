//! Nights and stays: calendar dates without a zone, and half-open runs of them.

use std::fmt;

/// The longest stay, in nights.
pub const STAY_NIGHTS_MAX: u8 = 90;

/// One night, named by the date of its evening; 1970-01-01 to 2149-06-06.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Night(u16);

/// Why some text is not a [`Night`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidNight {
    /// Not of the form `YYYY-MM-DD`.
    Form,
    /// No such day in the calendar.
    Calendar,
    /// A real date, but outside 1970-01-01 to 2149-06-06.
    Range,
}

impl Night {
    /// The night that is `days` days after 1970-01-01.
    #[must_use]
    pub const fn from_days(days: u16) -> Self {
        Self(days)
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub const fn days(self) -> u16 {
        self.0
    }

    /// The night `nights` later, if the calendar reaches so far.
    #[must_use]
    pub const fn checked_add(self, nights: u16) -> Option<Self> {
        match self.0.checked_add(nights) {
            Some(days) => Some(Self(days)),
            None => None,
        }
    }

    /// Parses `YYYY-MM-DD`.
    ///
    /// # Errors
    /// Another form, a day that does not exist, or a date outside the range.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidNight> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
            return Err(InvalidNight::Form);
        };
        let pairs = pairs_of_digits([y1, y2, y3, y4, m1, m2, d1, d2]);
        let [century, year, month, day] = pairs.ok_or(InvalidNight::Form)?;
        let year = century * 100 + year;
        if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
            return Err(InvalidNight::Calendar);
        }
        days_from_civil(year, month, day)
            .map(Self)
            .ok_or(InvalidNight::Range)
    }

    /// Year, month (1 to 12) and day (1 to 31).
    ///
    /// H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`, for days
    /// since 1970 that are never negative.
    #[must_use]
    pub const fn civil(self) -> (u32, u32, u32) {
        let days = self.0 as u32 + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
        (year, month, day)
    }
}

/// The numbers that four pairs of digits are; nothing when a byte is no digit.
///
/// All eight are looked at in one word: a digit's upper half is 3, and stays 3 when 6 is added.
fn pairs_of_digits(digits: [u8; 8]) -> Option<[u32; 4]> {
    const UPPER_HALVES: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THREES: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    let word = u64::from_be_bytes(digits);
    if word & UPPER_HALVES != THREES || (word + SIXES) & UPPER_HALVES != THREES {
        return None;
    }
    let ones = word & !UPPER_HALVES;
    // At most 99 in each byte, so that no byte carries into the next.
    let [_, first, _, second, _, third, _, fourth] = (ones + (ones >> 8) * 10).to_be_bytes();
    Some([first, second, third, fourth].map(u32::from))
}

const fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01, or nothing when they do not fit a night.
fn days_from_civil(year: u32, month: u32, day: u32) -> Option<u16> {
    let year = if month <= 2 {
        year.checked_sub(1)?
    } else {
        year
    };
    let era = year / 400;
    let year_of_era = year % 400;
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era)
        .checked_sub(719_468)?
        .try_into()
        .ok()
}

impl fmt::Display for Night {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Display for InvalidNight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "a date has the form YYYY-MM-DD",
            Self::Calendar => "there is no such day in the calendar",
            Self::Range => "dates run from 1970-01-01 to 2149-06-06",
        })
    }
}

impl std::error::Error for InvalidNight {}

/// A run of nights, half-open: from the arrival up to, not including, the departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stay {
    arrival: Night,
    nights: u8,
}

/// Why two nights are not a [`Stay`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidStay {
    /// The departure is not after the arrival.
    Empty,
    /// More than 90 nights; the field holds how many.
    TooLong(u16),
}

impl Stay {
    /// The stay from `arrival` to `departure`.
    ///
    /// # Errors
    /// A departure on or before the arrival, or more than 90 nights.
    pub fn new(arrival: Night, departure: Night) -> Result<Self, InvalidStay> {
        let nights = departure.0.saturating_sub(arrival.0);
        if nights == 0 {
            return Err(InvalidStay::Empty);
        }
        match u8::try_from(nights) {
            Ok(nights) if nights <= STAY_NIGHTS_MAX => Ok(Self { arrival, nights }),
            _ => Err(InvalidStay::TooLong(nights)),
        }
    }

    #[must_use]
    pub const fn arrival(self) -> Night {
        self.arrival
    }

    #[must_use]
    pub const fn departure(self) -> Night {
        Night(self.arrival.0 + self.nights as u16)
    }

    /// How many nights: 1 to 90.
    #[must_use]
    pub const fn nights(self) -> u8 {
        self.nights
    }

    /// Every night of the stay, in order.
    pub fn iter(self) -> impl Iterator<Item = Night> {
        (self.arrival.0..self.departure().0).map(Night)
    }

    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.arrival.0 < other.departure().0 && other.arrival.0 < self.departure().0
    }

    /// Whether it has all nights of another.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.arrival.0 <= other.arrival.0 && other.departure().0 <= self.departure().0
    }
}

impl fmt::Display for Stay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.arrival, self.departure())
    }
}

impl fmt::Display for InvalidStay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the departure is a date after the arrival"),
            Self::TooLong(nights) => {
                write!(
                    f,
                    "a stay has at most {STAY_NIGHTS_MAX} nights, this one has {nights}"
                )
            }
        }
    }
}

impl std::error::Error for InvalidStay {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_night_reads_back_from_its_text() {
        let mut previous = None;
        for days in 0..=u16::MAX {
            let night = Night::from_days(days);
            let text = night.to_string();
            assert_eq!(Night::parse(text.as_bytes()), Ok(night), "{text}");
            assert!(
                previous < Some(text.clone()),
                "{text} sorts after the night before"
            );
            previous = Some(text);
        }
    }

    #[test]
    fn what_is_no_date_says_why() {
        let rows = [
            ("1970-01-01", Ok(Night(0))),
            ("2000-02-29", Ok(Night(11_016))),
            ("2149-06-06", Ok(Night(u16::MAX))),
            ("2149-06-07", Err(InvalidNight::Range)),
            ("1969-12-31", Err(InvalidNight::Range)),
            ("0000-01-01", Err(InvalidNight::Range)),
            ("9999-12-31", Err(InvalidNight::Range)),
            ("2027-02-29", Err(InvalidNight::Calendar)),
            ("2027-13-01", Err(InvalidNight::Calendar)),
            ("2027-00-10", Err(InvalidNight::Calendar)),
            ("2027-01-00", Err(InvalidNight::Calendar)),
            ("27-01-2027", Err(InvalidNight::Form)),
            ("2027-1-1", Err(InvalidNight::Form)),
            ("2027-01-01T", Err(InvalidNight::Form)),
        ];
        for (text, expected) in rows {
            assert_eq!(Night::parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_stay_is_one_to_ninety_nights() {
        let night = |days| Night::from_days(days);
        assert_eq!(Stay::new(night(5), night(5)), Err(InvalidStay::Empty));
        assert_eq!(Stay::new(night(5), night(4)), Err(InvalidStay::Empty));
        assert_eq!(
            Stay::new(night(5), night(96)),
            Err(InvalidStay::TooLong(91))
        );
        let stay = Stay::new(night(5), night(95)).unwrap();
        assert_eq!((stay.nights(), stay.departure()), (90, night(95)));
        assert_eq!(stay.iter().count(), 90);
        assert!(
            !stay.overlaps(Stay::new(night(95), night(96)).unwrap()),
            "half-open"
        );
        assert!(stay.overlaps(Stay::new(night(94), night(96)).unwrap()));
    }

    #[test]
    fn a_stay_covers_itself_and_shorter_ones_within() {
        let night = Night::from_days;
        let covers = |arrival, departure| {
            let stay = Stay::new(night(10), night(20)).unwrap();
            stay.covers(Stay::new(night(arrival), night(departure)).unwrap())
        };
        assert!(covers(10, 20) && covers(10, 11) && covers(19, 20));
        assert!(!covers(9, 20) && !covers(10, 21) && !covers(20, 21) && !covers(5, 30));
    }
}
