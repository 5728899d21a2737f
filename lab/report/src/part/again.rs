//! 12: what to type to have the same run again, and on what it was made.

use maud::{Markup, html};
use turnstile_result::Run;

use crate::text;

pub(super) fn body(run: &Run) -> Markup {
    html! {
        pre { code { (text::command(&run.asked.line)) } }
        p { "The same seed sends the same requests at the same instants; another machine gives other figures." }
        div.wide { table { tbody { @for (name, value) in facts(run) { tr { th { (name) } td { (value) } } } } } }
        p { (text::coded("`run.json` beside this page is the result; `turnstile lab report --csv` and `--md` show it as a table and as a text. This page holds the figures too, in its last element.")) }
    }
}

fn facts(run: &Run) -> Vec<(String, String)> {
    let asked = &run.asked;
    let mut facts = vec![
        ("began".to_owned(), run.began.clone()),
        ("took".to_owned(), text::seconds(run.took_s)),
        ("lab".to_owned(), run.lab.clone()),
        ("seed".to_owned(), asked.seed.to_string()),
        ("generator threads".to_owned(), asked.threads.to_string()),
        (
            "target".to_owned(),
            format!(
                "{}{}",
                asked.target.address,
                if asked.target.own {
                    ", started for the run"
                } else {
                    ""
                }
            ),
        ),
    ];
    if let Some(server) = &run.server {
        let (version, durability) = (&server.version, &server.durability);
        facts.push((
            "server".to_owned(),
            format!("{version}, {}, durability {durability}", server.back_end),
        ));
    }
    facts.push(("machine".to_owned(), run.machine.to_string()));
    facts.extend(
        asked
            .precision
            .map(|share| ("precision asked for".to_owned(), text::share(share))),
    );
    facts.push((
        "longest point allowed".to_owned(),
        text::seconds(asked.point_s_max),
    ));
    for (role, processors) in &asked.pinned {
        let list: Vec<String> = processors.iter().map(ToString::to_string).collect();
        facts.push((format!("{role} on processors"), list.join(", ")));
    }
    facts.extend(
        asked
            .settings
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    facts
}
