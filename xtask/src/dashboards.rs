//! The dashboards of Grafana, which `cargo xtask reference` writes into `ops/grafana`, and the test that they
//! are current. `panels.txt` says once what each panel shows; the panels of services and of clusters follow
//! from the page of metrics, which a test of the server keeps true.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

const DESCRIPTION: &str = include_str!("dashboards/panels.txt");

/// The page that lists every metric, its kind, its labels and its meaning.
const METRICS: &str = "docs/metrics.md";

const FOLDER: &str = "ops/grafana";

/// The width of a dashboard, and the size of its panels: three in a line.
const WIDTH: usize = 24;
const PANEL_WIDTH: usize = 8;
const PANEL_HEIGHT: usize = 8;

/// The version of the form of dashboards that this is.
const SCHEMA: u32 = 39;

/// The unit of panels that show buckets over time; it is seconds.
const HEATMAP: &str = "heatmap";

/// What is drawn of a histogram, and its name.
const PERCENTILES: [(&str, &str); 4] = [
    ("0.5", "median"),
    ("0.9", "90 %"),
    ("0.99", "99 %"),
    ("0.999", "99.9 %"),
];

/// One metric of the page.
#[derive(Clone, Debug)]
struct ListedMetric<'a> {
    name: &'a str,
    is_counter: bool,
    labels: &'a str,
    meaning: &'a str,
}

/// One panel, and what it asks: the name of each line, and its query.
#[derive(Debug)]
struct Panel {
    title: String,
    unit: String,
    meaning: String,
    queries: Vec<(String, String)>,
}

/// One dashboard: its file, its title, and panels under headings.
#[derive(Debug)]
struct Dashboard {
    name: String,
    title: String,
    groups: Vec<(String, Vec<Panel>)>,
}

/// All of them.
fn dashboards(page: &str) -> Result<Vec<Dashboard>> {
    let metrics: Vec<ListedMetric<'_>> = page.lines().filter_map(ListedMetric::parse).collect();
    let mut all = Vec::new();
    for described in DESCRIPTION.split("\n= ").skip(1) {
        if !described.starts_with('*') {
            all.push(Dashboard::parse(described, &metrics)?);
            continue;
        }
        let services = metrics.iter().filter_map(|metric| {
            let name = metric.name.strip_prefix("turnstile_")?;
            name.strip_suffix("_operations_total")
        });
        for service in services {
            // A line that begins with a star is an order and keeps it.
            let described = described.replace("\n* ", "\n\0 ").replace('*', service);
            let described = described.replace('\0', "*");
            all.push(Dashboard::parse(&described, &metrics)?);
        }
    }
    Ok(all)
}

impl<'a> ListedMetric<'a> {
    /// Reads a row of a table; nothing where it is none of a metric.
    fn parse(line: &'a str) -> Option<Self> {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        let mut next = || cells.next();
        let (name, kind, labels, meaning) = (next()?, next()?, next()?, next()?);
        Some(Self {
            name: name.trim_end_matches('`'),
            is_counter: kind == "counter",
            labels,
            meaning: meaning.trim_end_matches('.'),
        })
    }

    /// A panel that is called so.
    fn panel(&self, title: &str) -> Panel {
        let title = title.trim_end_matches("_total").replace('_', " ");
        let (first, rest) = title.split_at(1);
        let labels: Vec<&str> = ["instance"]
            .into_iter()
            .chain(self.labels.split(", "))
            .filter(|label| !label.is_empty())
            .collect();
        let legend: Vec<String> = labels.iter().map(|one| format!("{{{{{one}}}}}")).collect();
        // By the convention of Prometheus, a name ends with its unit.
        let (query, unit) = match self.name.rsplit('_').next() {
            _ if self.is_counter => (rate(self.name, &labels.join(", ")), "cps"),
            Some("bytes") => (format!("{}{{@}}", self.name), "bytes"),
            Some("seconds") => (format!("{}{{@}}", self.name), "s"),
            _ => (format!("{}{{@}}", self.name), "short"),
        };
        Panel {
            title: first.to_uppercase() + rest,
            unit: unit.to_owned(),
            meaning: self.meaning.to_owned(),
            queries: vec![(legend.join(" "), query)],
        }
    }
}

fn rate(counter: &str, by: &str) -> String {
    format!("sum by ({by}) (rate({counter}{{@}}[@]))")
}

impl Dashboard {
    fn parse(described: &str, metrics: &[ListedMetric<'_>]) -> Result<Self> {
        let (head, lines) = described.split_once('\n').context("a dashboard is empty")?;
        let (name, title) = head.split_once(' ').context("a dashboard has no title")?;
        let mut read = Self {
            name: name.to_owned(),
            title: title.to_owned(),
            groups: Vec::new(),
        };
        for line in lines.lines().filter(|line| !line.is_empty()) {
            read.take(line, metrics).with_context(|| line.to_owned())?;
        }
        Ok(read)
    }

    fn take(&mut self, line: &str, metrics: &[ListedMetric<'_>]) -> Result<()> {
        if let Some(title) = line.strip_prefix("- ") {
            self.groups.push((title.to_owned(), Vec::new()));
            return Ok(());
        }
        let shown = self.queries();
        let (_, panels) = self.groups.last_mut().context("no heading before it")?;
        if let Some(prefix) = line.strip_prefix("* ") {
            let named = |metric: &&ListedMetric<'_>| !shown.contains(&format!("{}{{", metric.name));
            let metrics = metrics.iter().filter(named);
            panels.extend(metrics.filter_map(|metric| {
                let rest = metric.name.strip_prefix(prefix)?;
                Some(metric.panel(rest))
            }));
            return Ok(());
        }
        if let Some(query) = line.strip_prefix("    ") {
            let panel = panels.last_mut().context("no panel above it")?;
            panel.queries.extend(queries(query));
            return Ok(());
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[title, unit, meaning] = cells.as_slice() else {
            bail!("a panel is TITLE | UNIT | WHAT IT SHOWS");
        };
        panels.push(Panel {
            title: title.to_owned(),
            unit: unit.to_owned(),
            meaning: meaning.to_owned(),
            queries: Vec::new(),
        });
        Ok(())
    }

    /// All queries in one text.
    fn queries(&self) -> String {
        let panels = self.groups.iter().flat_map(|(_, panels)| panels);
        let queries = panels.flat_map(|panel| &panel.queries);
        queries.map(|(_, query)| query.as_str()).collect()
    }

    fn json(&self) -> Value {
        let links = json!([{
            "title": "Turnstile",
            "type": "dashboards",
            "tags": ["turnstile"],
            "asDropdown": true,
            "includeVars": true,
            "keepTime": true,
            "targetBlank": false,
            "icon": "",
            "tooltip": "",
            "url": "",
        }]);
        let prometheus = json!({
            "name": "datasource",
            "label": "Prometheus",
            "type": "datasource",
            "query": "prometheus",
        });
        let instance = json!({
            "name": "instance",
            "label": "Server",
            "type": "query",
            "datasource": source(),
            "query": "label_values(turnstile_build_info, instance)",
            "refresh": 2,
            "sort": 1,
            "includeAll": true,
            "allValue": ".*",
            "multi": true,
            "current": {"text": "All", "value": "$__all"},
        });
        json!({
            "uid": format!("turnstile-{}", self.name),
            "title": self.title,
            "description": "Written by cargo xtask reference.",
            "tags": ["turnstile"],
            "schemaVersion": SCHEMA,
            "editable": true,
            "graphTooltip": 1,
            "refresh": "10s",
            "time": {"from": "now-1h", "to": "now"},
            "timezone": "browser",
            "annotations": {"list": []},
            "links": links,
            "templating": {"list": [prometheus, instance]},
            "panels": self.panels(),
        })
    }

    /// Each group is a heading and its panels, line by line.
    fn panels(&self) -> Vec<Value> {
        let (mut all, mut top) = (Vec::new(), 0);
        for (title, panels) in &self.groups {
            all.push(json!({
                "id": all.len() + 1,
                "type": "row",
                "title": title,
                "collapsed": false,
                "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": 1},
                "panels": [],
            }));
            top += 1;
            let in_line = WIDTH / PANEL_WIDTH;
            for (place, panel) in panels.iter().enumerate() {
                let x = place % in_line * PANEL_WIDTH;
                let y = top + place / in_line * PANEL_HEIGHT;
                let size = json!({"x": x, "y": y, "w": PANEL_WIDTH, "h": PANEL_HEIGHT});
                all.push(panel.json(all.len() + 1, &size));
            }
            top += panels.len().div_ceil(in_line) * PANEL_HEIGHT;
        }
        all
    }
}

/// What a line below a panel asks.
fn queries(line: &str) -> Vec<(String, String)> {
    if let Some((legend, query)) = line.split_once(" <- ") {
        return vec![(legend.to_owned(), query.to_owned())];
    }
    if let Some(histogram) = line.strip_suffix(" times") {
        let query = |(part, name): (&str, &str)| {
            let buckets = rate(&format!("{histogram}_bucket"), "le, instance");
            let query = format!("histogram_quantile({part}, {buckets})");
            (format!("{{{{instance}}}}: {name}"), query)
        };
        return PERCENTILES.map(query).into();
    }
    match line.split_once(" by ") {
        Some((counter, label)) => vec![(format!("{{{{{label}}}}}"), rate(counter, label))],
        None => vec![("{{instance}}".to_owned(), format!("{line}{{@}}"))],
    }
}

/// Prometheus, as the viewer has chosen it.
fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

impl Panel {
    fn json(&self, id: usize, position: &Value) -> Value {
        let is_heatmap = self.unit == HEATMAP;
        let (kind, form, unit, options) = if is_heatmap {
            (HEATMAP, HEATMAP, "s", heatmap())
        } else {
            ("timeseries", "time_series", self.unit.as_str(), lines())
        };
        let letters = ('A'..='Z').map(String::from);
        let targets = letters.zip(&self.queries).map(|(letter, (legend, query))| {
            let query = query.replace("[@]", "[$__rate_interval]");
            json!({
                "refId": letter,
                "datasource": source(),
                "expr": query.replace('@', "instance=~\"$instance\""),
                "legendFormat": legend,
                "format": form,
                "range": true,
            })
        });
        json!({
            "id": id,
            "type": kind,
            "title": self.title,
            "description": self.meaning,
            "datasource": source(),
            "gridPos": position,
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
            "options": options,
            "targets": targets.collect::<Vec<_>>(),
        })
    }
}

fn lines() -> Value {
    let legend =
        json!({"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []});
    json!({"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}})
}

fn heatmap() -> Value {
    let color = json!({
        "mode": "scheme",
        "scheme": "Oranges",
        "steps": 64,
        "fill": "dark-orange",
        "exponent": 0.5,
        "reverse": false,
    });
    json!({
        "calculate": false,
        "cellGap": 1,
        "cellValues": {"unit": "reqps"},
        "color": color,
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
        "filterValues": {"le": 1e-9},
        "legend": {"show": true},
        "rowsFrame": {"layout": "auto"},
        "showValue": "never",
        "tooltip": {"mode": "single", "yHistogram": false, "showColorScale": false},
        "yAxis": {"axisPlacement": "left", "reverse": false, "unit": "s"},
    })
}

fn page() -> String {
    fs::read_to_string(crate::root().join(METRICS)).unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).unwrap();
    let name = |file: fs::DirEntry| file.file_name().into_string().unwrap();
    files.map(|file| name(file.unwrap())).collect()
}

#[test]
fn the_dashboards_are_current() {
    let folder = crate::root().join(FOLDER);
    let made = dashboards(&page()).unwrap();
    let file = |made: &Dashboard| format!("{}.json", made.name);
    if env::var_os("TURNSTILE_BLESS").is_some() {
        fs::create_dir_all(&folder).unwrap();
        for old in names(&folder) {
            fs::remove_file(folder.join(old)).unwrap();
        }
        for one in &made {
            let text = serde_json::to_string_pretty(&one.json()).unwrap();
            fs::write(folder.join(file(one)), text + "\n").unwrap();
        }
    }
    assert_eq!(
        names(&folder),
        made.iter().map(file).collect(),
        "run cargo xtask reference"
    );
    for one in &made {
        let text = fs::read_to_string(folder.join(file(one))).unwrap();
        let kept: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(kept, one.json(), "{}: run cargo xtask reference", one.name);
    }
}

#[test]
fn every_metric_has_a_panel() {
    let page = page();
    let made = dashboards(&page).unwrap();
    let shown: String = made.iter().map(Dashboard::queries).collect();
    // A histogram is shown by its parts.
    let is_shown = |name: &str| {
        let mut ends = ["{", "_bucket{"].into_iter();
        ends.any(|end| shown.contains(&format!("{name}{end}")))
    };
    let metrics = page.lines().filter_map(ListedMetric::parse);
    let missing: Vec<&str> = metrics
        .map(|one| one.name)
        .filter(|one| !is_shown(one))
        .collect();
    assert_eq!(missing, [""; 0]);
}
