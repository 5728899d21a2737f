//! All parts of a calibration, one after the other.

use serde::Serialize;
use turnstile_load::pace::{Progress, Wait};
use turnstile_result::{Machine, Point};
use turnstile_stats::units::Nanos;

use crate::{
    CalibrationError, CalibrationSetting, Claim, Verdict,
    accuracy::{self, NANOS, SHARE, Trial},
    contest::{self, Contest, Rival},
    crowd::{self, Crowd},
    delay::CASES,
    memory::{self, Growth},
    punctual::{self, Lag},
};

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Accuracy,
    Lag,
    Crowd,
    Memory,
    Versus(Rival),
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    pub machine: Machine,
    pub setting: CalibrationSetting,
    pub trials: Vec<Trial>,
    pub lags: Vec<Lag>,
    pub crowd: Option<Crowd>,
    pub memory: Option<Growth>,
    pub contests: Vec<Contest>,
    pub claims: Vec<Claim>,
    /// The runs, as points of `run.json`.
    #[serde(skip)]
    pub points: Vec<Point>,
}

/// Tells of the progress of a run.
fn going(tell: Tell<'_>) -> impl FnMut(&Progress) {
    |progress| tell(CalibrationNews::Progress(progress))
}

impl Part {
    /// What it is called on a command line, and for a rival in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Lag => "lag",
            Self::Crowd => "crowd",
            Self::Memory => "memory",
            Self::Versus(rival) => rival.name(),
        }
    }

    /// All that needs nothing but this machine.
    pub const OWN: [Self; 4] = [Self::Accuracy, Self::Lag, Self::Crowd, Self::Memory];
}

/// What a calibration tells on its way.
#[derive(Clone, Copy, Debug)]
pub enum CalibrationNews<'a> {
    /// What comes next.
    Next(&'a str),
    /// How it is going.
    Progress(&'a Progress),
}

/// Who is told.
type Tell<'a> = &'a mut dyn FnMut(CalibrationNews<'_>);

/// Measures these parts.
///
/// # Errors
/// A server, the generator or a rival could not be started.
pub fn calibrate(
    setting: &CalibrationSetting,
    parts: &[Part],
    tell: Tell<'_>,
) -> Result<Calibration, CalibrationError> {
    let mut found = Calibration::blank(setting);
    for &part in parts {
        found.measure(part, tell)?;
    }
    Ok(found)
}

impl Calibration {
    fn blank(setting: &CalibrationSetting) -> Self {
        Self {
            machine: Machine::this(),
            setting: setting.clone(),
            trials: Vec::new(),
            lags: Vec::new(),
            crowd: None,
            memory: None,
            contests: Vec::new(),
            claims: Vec::new(),
            points: Vec::new(),
        }
    }

    fn measure(&mut self, part: Part, tell: Tell<'_>) -> Result<(), CalibrationError> {
        let setting = &self.setting.clone();
        match part {
            Part::Accuracy => {
                for case in &CASES {
                    tell(CalibrationNews::Next(&format!("accuracy: {}", case.name)));
                    let mut trials = Vec::with_capacity(setting.repeats);
                    for _run in 0..setting.repeats {
                        let (trial, run) = accuracy::measure(case, setting, &mut going(tell))?;
                        trials.push(trial);
                        self.points.push(run.point);
                    }
                    let Some(trial) = Trial::middle(&trials) else {
                        continue;
                    };
                    self.claims.push(trial.claim());
                    self.trials.push(trial);
                }
            }
            Part::Lag => self.measure_lag(setting, tell)?,
            Part::Crowd => {
                tell(CalibrationNews::Next("a crowd of users"));
                let (crowd, run) = crowd::measure(setting, &mut going(tell))?;
                self.claims.push(crowd.claim());
                self.crowd = Some(crowd);
                self.points.push(run.point);
            }
            Part::Memory => {
                tell(CalibrationNews::Next("memory"));
                let (growth, run) = memory::measure(setting, &mut going(tell))?;
                self.claims.push(growth.claim());
                self.memory = Some(growth);
                self.points.push(run.point);
            }
            Part::Versus(rival) => {
                for of in rival.matches() {
                    tell(CalibrationNews::Next(&format!("versus {of}")));
                    let contest = contest::measure(of, setting, &mut going(tell))?;
                    self.claims.push(contest.claim());
                    self.contests.push(contest);
                }
            }
        }
        Ok(())
    }

    /// As the setting says, and with real-time priority where that is allowed.
    fn measure_lag(
        &mut self,
        setting: &CalibrationSetting,
        tell: Tell<'_>,
    ) -> Result<(), CalibrationError> {
        let also = setting.wait != Wait::RealTime && punctual::can_be_real_time();
        for wait in [setting.wait]
            .into_iter()
            .chain(also.then_some(Wait::RealTime))
        {
            tell(CalibrationNews::Next("lag"));
            let (lag, run) = punctual::measure(setting, wait, &mut going(tell))?;
            self.claims.push(lag.claim());
            self.lags.push(lag);
            self.points.push(run.point);
        }
        Ok(())
    }

    /// The worst of all claims.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let worst = self.claims.iter().map(|claim| claim.verdict).max();
        worst.unwrap_or(Verdict::NotMeasured)
    }
}

impl Trial {
    fn claim(&self) -> Claim {
        Claim {
            name: format!("accuracy: {}", self.name),
            target: format!(
                "p50 .. p99.9 within {:.0} % or {}",
                SHARE * 100.0,
                Nanos(NANOS)
            ),
            found: self.found(),
            verdict: self.verdict,
        }
    }
}
