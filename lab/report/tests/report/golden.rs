//! What the views say, word for word where it is short.

use turnstile_report::{Headline, csv, html, markdown};
use turnstile_result::{Arrivals, Bottleneck, OfferedLoad, Outcome, Run, Validity, Verdict};

use crate::simulated;

/// The figures that a page holds.
fn held(page: &str) -> Run {
    let (_, rest) = page.split_once("id=\"run\"").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    Run::read(json.as_bytes()).unwrap()
}

#[test]
fn a_page_is_one_small_file_of_twelve_parts_that_holds_its_figures() {
    for (name, run) in simulated::all() {
        let page = html(&run);
        assert!(page.len() < 300_000, "{name}: {} bytes", page.len());
        assert_eq!(page.matches("<section ").count(), 12, "{name}");
        for elsewhere in ["src=", "url(", "@import", "<link", "href=\"http"] {
            assert!(!page.contains(elsewhere), "{name}: {elsewhere}");
        }
        let head = "<script type=\"text/csv\" id=\"points\">series,repeat,";
        if name == "cores" {
            assert!(page.contains(head), "{name}");
        } else {
            let held = held(&page);
            assert_eq!(
                (&held.asked, held.points.len()),
                (&run.asked, run.points.len())
            );
        }
    }
    let run = simulated::single();
    assert_eq!(held(&html(&run)), run);
}

#[test]
fn a_page_about_many_points_stays_small() {
    let mut run = simulated::sweep();
    let points = run.points.clone();
    run.points = std::iter::repeat_n(points, 16).flatten().collect();
    let page = html(&run);
    assert_eq!(run.points.len(), 128);
    assert!(page.len() < 300_000, "{} bytes", page.len());
}

#[test]
fn what_others_wrote_is_text_and_no_part_of_the_page() {
    let mut run = simulated::comparison();
    "</script><script>alert(1)</script>".clone_into(&mut run.machine.processor);
    let page = html(&run);
    assert!(page.contains("sold to ada &amp; &lt;b&gt;bob&lt;/b&gt; on"));
    assert!(!page.contains("<b>bob") && !page.contains("<script>alert"));
    assert_eq!(held(&page).machine, run.machine);
}

#[test]
fn who_else_used_the_machine_is_told_with_it() {
    let mut run = simulated::single();
    let others = |run: &Run| {
        let page = html(run);
        let (_, rest) = page.split_once("The machine meanwhile").unwrap();
        let (table, _) = rest.split_once("</table>").unwrap();
        let column = |cells: &str, end: &str| -> Vec<String> {
            let cells = cells.split(end);
            let text = cells.map(|cell| cell.rsplit('>').next().unwrap().to_owned());
            text.collect()
        };
        let (head, body) = table.split_once("</thead>").unwrap();
        let place = column(head, "</th>")
            .iter()
            .position(|name| name == "processors that others had");
        column(body, "</td>")[place.unwrap()].clone()
    };
    assert_eq!(others(&run), "0.05");
    run.points[0].resources.others = None;
    assert_eq!(others(&run), "-");
}

fn check(run: &Run, sentences: &[&str]) {
    assert_eq!(Headline::of(run).sentences, sentences);
}

#[test]
fn a_run_is_told_in_plain_sentences() {
    check(
        &simulated::single(),
        &[
            "With 8 users: 9 448/s (9 372/s to 9 523/s) answered, 854 \u{b5}s each on average, and \
             one in a hundred longer than 2.98 ms.",
            "Objective p99<10ms: holds, p99 is 3.11ms.",
            "Everything acknowledged is there, and nothing else: 2 checks over 189 369 requests.",
        ],
    );
    check(
        &simulated::sweep(),
        &[
            "It can do 9 434/s (9 358/s to 9 509/s).",
            "From 2.2 (2.07 to 2.33) users on they wait for each other: more users bring longer \
             responses, not more answers.",
            "A request costs most of server cpu: 106 \u{b5}s (105 \u{b5}s to 107 \u{b5}s) of it.",
            "One point is invalid: it is drawn hollow and used for nothing.",
            "Everything acknowledged is there, and nothing else: 16 checks over 1 342 247 requests.",
        ],
    );
    check(
        &simulated::comparison(),
        &[
            "A is old, B is new; a ratio is B over A.",
            "B against A, throughput: the same, ratio 1.003 (0.997 to 1.009).",
            "B against A, response mean: lower, ratio 0.962 (0.954 to 0.970).",
            "B against A, response p99: cannot tell, ratio 1.010 (0.965 to 1.055); 12 more \
             pairs would settle it.",
            "1 of 20 promises were broken.",
        ],
    );
    let limited = "With 40 users the bottleneck is server cpu, and a change of it changes the \
                   throughput: 98 % of 1 are busy; of what more users could bring, the last of 40 \
                   brought 2 %.";
    assert_eq!(Headline::of(&simulated::bottleneck()).sentences[0], limited);
}

#[test]
fn what_was_not_proven_is_not_said_to_be_so() {
    let mut run = simulated::single();
    let rules = run.points[0].proof.len();
    assert_eq!(rules, 2);
    run.points[0].proof[1].outcome = Outcome::NotTestable;
    let last = |run: &Run| Headline::of(run).sentences.pop().unwrap();
    assert_eq!(last(&run), "1 of 2 promises could not be checked.");
    assert!(html(&run).contains("1 of 2, 1 not checked"));
    run.points[0].proof[0].outcome = Outcome::Fails;
    assert_eq!(last(&run), "1 of 2 promises were broken.");
}

#[test]
fn a_rate_that_the_server_fell_behind_is_not_said_to_be_used_for_nothing() {
    let mut run = simulated::single();
    let point = &mut run.points[0];
    point.verdict = Verdict::Invalid;
    point.validity = vec![Validity {
        check: "delivered".to_owned(),
        outcome: Outcome::Fails,
        found: String::new(),
        cure: None,
    }];
    let told = |run: &Run| Headline::of(run).sentences.concat();
    assert!(told(&run).contains("used for nothing"));
    run.points[0].load = OfferedLoad::Open {
        rate: 20_000.0,
        arrivals: Arrivals::Poisson,
        connections: 8,
        deadline_ns: None,
    };
    assert!(told(&run).contains("used for the capacity alone"));
    assert!(!told(&run).contains("used for nothing"));
}

#[test]
fn quotas_on_several_numbers_of_cores_are_shown_apart() {
    let mut run = simulated::cores();
    let curves = &mut run.sweep.as_mut().unwrap().curves;
    for (place, curve) in (0..).zip(curves.iter_mut()) {
        curve.cores = Some(1 + place / 2);
        curve.quota = Some([0.25, 0.5][usize::try_from(place).unwrap() % 2]);
    }
    let page = html(&run);
    for cores in [1, 2] {
        let title = format!("Capacity by what the server may use of {cores} cores");
        assert!(page.contains(&title), "{title}");
    }
    for curve in &mut run.sweep.as_mut().unwrap().curves {
        curve.quota = Some(0.5);
    }
    let page = html(&run);
    assert!(!page.contains("Capacity by what"));
    assert!(!page.contains("NaN") && !page.contains("elasticity inf"));
}

#[test]
fn the_command_of_a_text_can_be_pasted() {
    let mut run = simulated::single();
    run.asked.line = ["turnstile", "lab", "run", "--header", "accept: text/plain"]
        .map(str::to_owned)
        .to_vec();
    let expected = "\n    turnstile lab run --header 'accept: text/plain'\n";
    assert!(markdown(&run).contains(expected), "{}", markdown(&run));
}

/// The first tile of a page: what it is, and its value.
fn first_tile(page: &str) -> (&str, &str) {
    let (_, tile) = page.split_once("<div><dt>").unwrap();
    let (name, rest) = tile.split_once("</dt><dd>").unwrap();
    (name, rest.split_once('<').unwrap().0.trim())
}

#[test]
fn the_tiles_of_a_bottleneck_show_the_load_that_was_asked_about() {
    let mut run = simulated::bottleneck();
    let all = run.points.len();
    let mut faster = run.points[all - 1].clone();
    // Without syncs, as `--confirm` measures it beside.
    "no sync".clone_into(&mut faster.series);
    run.points[all - 1].throughput = 9_000.0;
    faster.throughput = 27_000.0;
    run.points.push(faster);
    assert_eq!(first_tile(&html(&run)), ("throughput", "9 000/s"));
    // However many of the others are valid.
    run.points[all - 1].verdict = Verdict::Invalid;
    assert_eq!(first_tile(&html(&run)), ("throughput", "9 000/s"));
}

#[test]
fn a_run_that_names_no_bottleneck_says_so_everywhere() {
    let mut run = simulated::bottleneck();
    let found = run.bottleneck.as_mut().unwrap();
    Bottleneck::NOTHING.clone_into(&mut found.named);
    (found.probability, found.confirmed) = (0.0, None);
    "5 of 5 points are invalid: the host gave 9 % of the time to others".clone_into(&mut found.why);
    let said = "With 40 users no bottleneck is named: 5 of 5 points are invalid: the host gave 9 % of \
                the time to others.";
    assert_eq!(Headline::of(&run).sentences[0], said);
    assert!(html(&run).contains("<strong>no bottleneck is named</strong>: 5 of 5 points"));
    "neighbours".clone_into(&mut run.bottleneck.as_mut().unwrap().named);
    let said =
        "With 40 users no bottleneck of the server is named, for what limits is neighbours: ";
    assert!(Headline::of(&run).sentences[0].starts_with(said));
    let page = html(&run);
    assert!(!page.contains("the bottleneck is <strong>"), "{page}");
}

#[test]
fn a_table_has_a_row_for_each_point_and_a_figure_for_each_column() {
    let run = simulated::capacity();
    let table = csv(&run);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), run.points.len() + 1);
    assert!(rows.iter().all(|row| row.len() == 28));
    let told = |name: &str| {
        let column = rows[0].iter().position(|column| *column == name).unwrap();
        rows[1][column]
    };
    assert_eq!(
        [told("loop"), told("users"), told("rate")],
        ["open loop", "", "4717"]
    );
    assert_eq!(told("throughput"), run.points[0].throughput.to_string());
    let p99 = run.points[0].times.response.at(0.99).unwrap();
    assert_eq!(told("p99_ns"), p99.to_string());
    assert_eq!([told("steady"), told("verdict")], ["true", "fine"]);
}

#[test]
fn a_text_has_the_sentences_the_points_and_the_command() {
    let text = markdown(&simulated::sweep());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# Lab sweep rooms: fine");
    assert_eq!(lines[4], "* It can do 9 434/s (9 358/s to 9 509/s).");
    let row = "| 16 users | 7 555/s | 1.71 ms | 1.34 ms | 6 ms | 32 \u{b5}s | 1.01 | invalid |";
    assert!(lines.contains(&row), "{text}");
    let command = "    turnstile lab sweep rooms -c 1..64 --pin server=0,gen=1";
    assert_eq!(lines.last(), Some(&command));
}
