//! From figures to places on an axis, and the figures that are written at it.

use crate::text;

/// How many ticks an axis has, about.
const TICKS: f64 = 5.0;

/// What is measured along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A plain number.
    Number,
    /// Nanoseconds, shown in the unit that fits.
    Time,
    /// A share, shown in per cent.
    Share,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisScale {
    /// What it is, with its unit.
    pub(crate) label: String,
    pub(crate) unit: Unit,
    low: f64,
    high: f64,
    is_log: bool,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl AxisScale {
    /// From zero to a little over the highest of these.
    pub(crate) fn from_zero(label: &str, unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let (divisor, suffix) = match unit {
            Unit::Number => (1.0, None),
            Unit::Time => text::time_unit(most),
            Unit::Share => (0.01, Some("%")),
        };
        let step = step(most / divisor / TICKS);
        let count = (most / divisor / step).ceil().max(1.0);
        let ticks = (0_u32..).map(f64::from).take_while(|tick| *tick <= count);
        let label = suffix.map_or_else(|| label.to_owned(), |unit| format!("{label}, {unit}"));
        Self {
            label,
            unit,
            low: 0.0,
            high: count * step * divisor,
            is_log: false,
            ticks: ticks
                .map(|tick| (tick * step * divisor, text::plain(tick * step)))
                .collect(),
        }
    }

    /// By powers of ten, over all of these that are above zero.
    pub(crate) fn log(label: &str, unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        let sane = values.filter(|value| value.is_finite() && *value > 0.0);
        let (least, most) = sane.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let (least, most) = if most > 0.0 {
            (least, most)
        } else {
            (1.0, 10.0)
        };
        let (low, high) = (rounded(least, false), rounded(most, true));
        let high = if high > low { high } else { low * 10.0 };
        let shown = |value: f64| match unit {
            Unit::Time => text::time(value),
            Unit::Number => text::plain(value),
            Unit::Share => text::share(value),
        };
        let decades = (high / low).log10();
        let marks: &[f64] = match decades {
            decades if decades < 2.5 => &[1.0, 2.0, 5.0],
            decades if decades < 4.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let first = low.log10().floor();
        let powers = (0_u32..=20).map(|power| 10_f64.powf(first + f64::from(power)));
        let ticks = powers.flat_map(|power| marks.iter().map(move |mark| mark * power));
        let inside = ticks.filter(|tick| (low * 0.999..=high * 1.001).contains(tick));
        Self {
            label: label.to_owned(),
            unit,
            low,
            high,
            is_log: true,
            ticks: inside.map(|tick| (tick, shown(tick))).collect(),
        }
    }

    /// Around these, without zero: to see how far they lie apart.
    pub(crate) fn around(label: &str, values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        if !(least.is_finite() && most.is_finite()) {
            return Self::from_zero(label, Unit::Number, std::iter::empty());
        }
        let step = step(((most - least) / TICKS).max(most.abs() * 1e-3).max(1e-9));
        let (low, high) = ((least / step).floor() * step, (most / step).ceil() * step);
        let ticks = (0_u32..).map(|tick| low + f64::from(tick) * step);
        let ticks = ticks.take_while(|tick| *tick <= high + step * 0.01);
        let ticks = ticks.map(|tick| (tick, text::plain(tick))).collect();
        Self::with_ticks(label, low, high.max(low + step), ticks)
    }

    /// With ticks of the caller's.
    pub(crate) fn with_ticks(label: &str, low: f64, high: f64, ticks: Vec<(f64, String)>) -> Self {
        Self {
            label: label.to_owned(),
            unit: Unit::Number,
            low,
            high,
            is_log: false,
            ticks,
        }
    }

    /// Where a figure is: 0 at the low end, 1 at the high one. What is beyond stays at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = if self.is_log {
            let value = value.max(self.low);
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        place.clamp(0.0, 1.0)
    }

    /// Whether a figure is on the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let slack = (self.high - self.low) * 1e-6;
        (self.low - slack..=self.high + slack).contains(&value)
    }

    pub(crate) const fn high(&self) -> f64 {
        self.high
    }

    /// A figure as it is told beside the chart.
    pub(crate) fn shown(&self, value: f64) -> String {
        match self.unit {
            Unit::Number => text::figure(value),
            Unit::Time => text::time(value),
            Unit::Share => text::share(value),
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least this.
fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let found = steps.into_iter().find(|step| step * power >= least * 0.999);
    found.unwrap_or(10.0) * power
}

/// By so little a figure is off only because it is computed.
const NOISE: f64 = 1e-9;

/// To the next of 1, 2 or 5 times a power of ten, upwards or downwards.
fn rounded(value: f64, up: bool) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let mut marks = [1.0, 2.0, 5.0, 10.0].into_iter().map(|mark| mark * power);
    if up {
        return marks
            .find(|mark| *mark >= value * (1.0 - NOISE))
            .unwrap_or(power);
    }
    let below = marks.filter(|mark| *mark <= value * (1.0 + NOISE));
    below.fold(power, f64::max)
}

#[cfg(test)]
mod tests {
    use super::{AxisScale, Unit};

    fn ticks(scale: &AxisScale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_the_label_has_the_unit() {
        let users = AxisScale::from_zero("users", Unit::Number, [1.0, 80.0].into_iter());
        assert_eq!(ticks(&users), ["0", "20", "40", "60", "80"]);
        let time = AxisScale::from_zero("mean", Unit::Time, [4.25e6].into_iter());
        assert_eq!(time.label, "mean, ms");
        assert_eq!(ticks(&time), ["0", "1", "2", "3", "4", "5"]);
        let share = AxisScale::from_zero("busy", Unit::Share, [0.93].into_iter());
        assert_eq!(ticks(&share), ["0", "20", "40", "60", "80", "100"]);
        let log = AxisScale::log("p99", Unit::Time, [310_000.0, 9.8e6].into_iter());
        let expected = [
            "200 \u{b5}s",
            "500 \u{b5}s",
            "1 ms",
            "2 ms",
            "5 ms",
            "10 ms",
        ];
        assert_eq!(ticks(&log), expected);
    }

    /// A point of 99.9 us was not drawn: the axis began at 100 us.
    #[test]
    fn what_is_next_to_a_round_figure_is_on_the_axis() {
        for value in [99_939.0, 100_000.0, 100_061.0, 199_900.0, 500_400.0] {
            let scale = AxisScale::log("mean", Unit::Time, [value].into_iter());
            assert!(scale.holds(value), "{value}: {scale:?}");
            let wide = AxisScale::log("mean", Unit::Time, [value, 1e9].into_iter());
            assert!(wide.low <= value && wide.holds(value), "{value}: {wide:?}");
        }
    }

    #[test]
    fn places_run_from_one_end_to_the_other() {
        let linear = AxisScale::from_zero("x", Unit::Number, [100.0].into_iter());
        assert_eq!(
            [0.0, 50.0, 100.0, 200.0].map(|x| linear.place(x)),
            [0.0, 0.5, 1.0, 1.0]
        );
        let log = AxisScale::log("x", Unit::Number, [1.0, 100.0].into_iter());
        let places = [0.0, 1.0, 10.0, 100.0].map(|x| (log.place(x) * 10.0).round());
        assert_eq!(places, [0.0, 0.0, 5.0, 10.0]);
    }

    #[test]
    fn nothing_to_draw_is_no_reason_to_fail() {
        let empty = || std::iter::empty();
        assert_eq!(
            ticks(&AxisScale::from_zero("x", Unit::Number, empty())).len(),
            6
        );
        assert_eq!(
            ticks(&AxisScale::log("x", Unit::Number, empty())),
            ["1", "2", "5", "10"]
        );
        let nan = AxisScale::from_zero("x", Unit::Number, [f64::NAN, f64::INFINITY].into_iter());
        assert!((nan.high() - 1.0).abs() < 1e-9);
    }
}
