//! `turnstile lab calibrate`.

use std::{env, fs, io, str::FromStr, time::Duration};

use anyhow::Context as _;
use clap::Args;
use turnstile_calibrate::{
    Calibration, CalibrationNews, CalibrationSetting, Part, apart, calibrate, contest::Rival,
};
use turnstile_load::pace::Wait;
use turnstile_result::{Target, Verdict};

use super::{
    duration,
    notebook::{self, Notebook, OutputArguments},
    pacing::WaitArguments,
};
use crate::{exit::Coded, terminal};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Run only these parts: accuracy, lag, crowd, memory
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<Chosen>,
    /// Also compare the CPU cost per request with these installed generators: wrk, redis-benchmark
    #[arg(long, value_name = "RIVAL", value_delimiter = ',')]
    versus: Vec<Rival>,
    /// Duration of each run; a percentile with fewer than ten samples above it is left out
    #[arg(short, long, default_value = "12s", value_parser = duration)]
    duration: Duration,
    /// Random seed of instants and orders
    #[arg(long, default_value = "1")]
    seed: u64,
    #[command(flatten)]
    waiting: WaitArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// A part, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chosen(Part);

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let parts = arguments.parts();
    let setting = CalibrationSetting {
        program: env::current_exe().ok(),
        ..CalibrationSetting::here(arguments.duration, arguments.seed, arguments.waiting.wait())
    };
    if setting.cores.len() < 2 {
        terminal::note("server and generator share the only processor: expect a noisy machine");
    }
    let target = Target {
        address: "servers of known delays".to_owned(),
        tls: false,
        authenticated: false,
        own: true,
    };
    let mut asked = notebook::asked("calibrate", "delays", target, None, 1);
    asked.seed = arguments.seed;
    asked.point_s_max = (setting.warm_up + setting.duration).as_secs_f64();
    let mut notebook = Notebook::new(&arguments.output, asked, Vec::new())?;
    let found = calibrate(&setting, &parts, &mut |news| match news {
        CalibrationNews::Next(next) => notebook.note(next),
        CalibrationNews::Progress(progress) => notebook.show(progress),
    })?;
    notebook.run().points.clone_from(&found.points);
    let page = notebook.folder().join("calibration.md");
    fs::write(&page, arguments.page(&found)).with_context(|| page.display().to_string())?;
    super::write_json(&found, &notebook.folder().join("calibration.json"))?;
    let verdict = if found.verdict().is_good() {
        Verdict::Fine
    } else {
        Verdict::Invalid
    };
    terminal::line(&found)?;
    notebook.finish_told(verdict)?;
    match found.claims.iter().find(|claim| !claim.verdict.is_good()) {
        None => Ok(()),
        Some(claim) => {
            let told = format!("{}: {} ({})", claim.name, claim.verdict, claim.found);
            Err(Coded::invalid(told).into())
        }
    }
}

/// `turnstile lab answer`: the server of a crowd.
pub(super) fn answer() -> anyhow::Result<()> {
    apart::answer(io::stdin().lock(), io::stdout().lock())?;
    Ok(())
}

impl Arguments {
    /// What was found, with how to have it again.
    fn page(&self, found: &Calibration) -> String {
        let mut line = "turnstile lab calibrate".to_owned();
        let parts: Vec<&str> = self.only.iter().map(|chosen| chosen.0.name()).collect();
        let rivals: Vec<&str> = self.versus.iter().map(|rival| rival.name()).collect();
        for (flag, words) in [("--only", parts), ("--versus", rivals)] {
            if !words.is_empty() {
                line = format!("{line} {flag} {}", words.join(","));
            }
        }
        let manner = match self.waiting.wait() {
            Wait::RealTime => " --rt",
            Wait::Awake => " --awake",
            Wait::Alert => " --rt --awake",
            Wait::Asleep => "",
        };
        let seconds = self.duration.as_millis();
        format!(
            "# The lab's generator, calibrated\n\n`{line} -d {seconds}ms --seed {}{manner}` measures this \
             again; docs/lab-calibrate.md says what is measured.\n\n{found}\n",
            self.seed
        )
    }

    /// Those that were named; without any, all that need nothing but this machine.
    fn parts(&self) -> Vec<Part> {
        let named = self.only.iter().map(|chosen| chosen.0);
        let mut parts: Vec<Part> = if self.only.is_empty() && self.versus.is_empty() {
            Part::OWN.to_vec()
        } else {
            named.collect()
        };
        parts.extend(self.versus.iter().copied().map(Part::Versus));
        parts
    }
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Part::OWN
            .into_iter()
            .find(|part| part.name() == text)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no part: write accuracy, lag, crowd or memory"))
    }
}
