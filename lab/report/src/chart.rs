//! Charts as SVG within a page: axes with units, intervals, hollow points for what is invalid, and
//! the same figures as text.

mod draw;
mod scale;

use maud::{Markup, html};

pub(crate) use scale::{AxisScale, Unit};

/// The most rows of the table beside a chart; of more, some are left out.
const ROWS_MAX: usize = 24;

/// How many colours there are.
const COLOURS: usize = 6;

/// A picture of figures.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What one should see in it.
    pub(crate) about: String,
    pub(crate) x: AxisScale,
    pub(crate) y: AxisScale,
    pub(crate) series: Vec<ChartSeries>,
    pub(crate) marks: Vec<ChartAnnotation>,
}

/// Figures of one kind: a line, its points, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChartSeries {
    pub(crate) name: String,
    /// Which of the colours.
    pub(crate) colour: usize,
    pub(crate) dots: Vec<Dot>,
    pub(crate) form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line with a mark at each point.
    #[default]
    Marked,
    Line,
    /// A line and what is below it.
    Area,
    Dashed,
    /// Points alone.
    Dots,
    Bars,
}

/// One figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Where the truth lies.
    pub(crate) range: Option<(f64, f64)>,
    /// Not to be used: no line goes through it.
    pub(crate) is_invalid: bool,
}

/// What explains figures without being one.
#[derive(Clone, Debug)]
pub(crate) enum ChartAnnotation {
    /// A line from bottom to top.
    Upright { x: f64, label: String },
    /// A line from left to right.
    Level { y: f64, label: String },
    /// A strip from bottom to top.
    Strip { from: f64, to: f64, label: String },
}

impl Dot {
    pub(crate) const fn at(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            range: None,
            is_invalid: false,
        }
    }
}

impl ChartSeries {
    pub(crate) fn new(name: impl Into<String>, colour: usize, form: Form, dots: Vec<Dot>) -> Self {
        Self {
            name: name.into(),
            colour: colour % COLOURS,
            dots,
            form,
        }
    }
}

impl Chart {
    /// The chart with its legend and its figures as a table.
    pub(crate) fn markup(&self, id: &str) -> Markup {
        html! {
            figure.chart id=(id) {
                figcaption { (self.title) }
                (draw::svg(self, id))
                (self.legend())
                (self.table())
            }
        }
    }

    fn legend(&self) -> Markup {
        let has_invalid = self
            .series
            .iter()
            .flat_map(|series| &series.dots)
            .any(|dot| dot.is_invalid);
        html! {
            ul.legend {
                @for series in &self.series {
                    li { (draw::swatch(series)) (series.name) }
                }
                @if has_invalid {
                    li { (draw::hollow_swatch()) "invalid, not to be used" }
                }
            }
        }
    }

    /// What is drawn, in words, for who does not see it.
    fn described(&self) -> String {
        let mut text = format!(
            "{} Across: {}. Up: {}.",
            self.about, self.x.label, self.y.label
        );
        for series in &self.series {
            let mut sound = series.dots.iter().filter(|dot| !dot.is_invalid);
            let Some(most) = sound.clone().max_by(|a, b| a.y.total_cmp(&b.y)) else {
                continue;
            };
            let (first, last) = (sound.clone().next(), sound.next_back());
            let told = |dot: &Dot| format!("{} at {}", self.y.shown(dot.y), self.x.shown(dot.x));
            let ends = [first, last].map(|dot| dot.map_or_else(String::new, told));
            let [from, to] = ends;
            text += &format!(
                " {}: from {from} to {to}, at most {}.",
                series.name,
                told(most)
            );
        }
        text
    }

    fn table(&self) -> Markup {
        let series = self.series.iter().filter(|series| !series.dots.is_empty());
        html! {
            details.figures {
                summary { "Figures" }
                div.wide { table {
                    thead { tr { th { "" } th { (self.x.label) } th { (self.y.label) } th { "95 % interval" } } }
                    tbody {
                        @for series in series {
                            @for dot in thinned(&series.dots) {
                                tr {
                                    td { (series.name) @if dot.is_invalid { " (invalid)" } }
                                    td.n { (self.x.shown(dot.x)) }
                                    td.n { (self.y.shown(dot.y)) }
                                    td.n { @if let Some((low, high)) = dot.range {
                                        (self.y.shown(low)) " to " (self.y.shown(high))
                                    } }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// All of few; of many every so manieth, and the last.
fn thinned(dots: &[Dot]) -> impl Iterator<Item = &Dot> {
    let every = dots.len().div_ceil(ROWS_MAX).max(1);
    let last = dots.len().saturating_sub(1);
    let kept = dots.iter().enumerate();
    kept.filter(move |(place, _)| place % every == 0 || *place == last)
        .map(|(_, dot)| dot)
}

#[cfg(test)]
mod tests {
    use super::{AxisScale, Chart, ChartAnnotation, ChartSeries, Dot, Form, Unit};

    /// Two points with intervals and one that is not to be used.
    fn chart() -> Chart {
        let dot = |x: f64, y: f64, is_invalid| Dot {
            x,
            y,
            range: Some((y * 0.9, y * 1.1)),
            is_invalid,
        };
        let dots = vec![
            dot(1.0, 4_000.0, false),
            dot(2.0, 5_000.0, true),
            dot(4.0, 9_000.0, false),
        ];
        Chart {
            title: "Answers & more".to_owned(),
            about: "Answers against users.".to_owned(),
            x: AxisScale::from_zero("users", Unit::Number, [4.0].into_iter()),
            y: AxisScale::from_zero("answers a second", Unit::Number, [9_900.0].into_iter()),
            series: vec![ChartSeries::new("answered", 7, Form::Marked, dots)],
            marks: vec![ChartAnnotation::Upright {
                x: 2.2,
                label: "knee 2.2".to_owned(),
            }],
        }
    }

    #[test]
    fn a_chart_is_drawn_so() {
        let drawn = chart().markup("x").into_string().replace('>', ">\n");
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn a_line_goes_through_the_mean_of_what_was_measured_more_than_once() {
        let mut chart = chart();
        let dots = &mut chart.series[0].dots;
        for dot in dots.iter_mut() {
            dot.range = None;
        }
        let drawn = |chart: &Chart| {
            let drawn = chart.markup("x").into_string();
            let (_, rest) = drawn.split_once("<path class=\"line\" d=\"").unwrap();
            rest.split_once('"').unwrap().0.to_owned()
        };
        let once = drawn(&chart);
        let dots = &mut chart.series[0].dots;
        let [low, high] = [8_000.0, 10_000.0].map(|y| Dot::at(4.0, y));
        dots.splice(2.., [low, high]);
        assert_eq!(drawn(&chart), once);
        assert_eq!(once.matches('L').count(), 1, "{once}");
    }

    #[test]
    fn who_does_not_see_a_chart_is_told_what_it_shows() {
        let expected = "Answers against users. Across: users. Up: answers a second. answered: from \
                        4 000 at 1 to 9 000 at 4, at most 9 000 at 4.";
        assert_eq!(chart().described(), expected);
    }
}
