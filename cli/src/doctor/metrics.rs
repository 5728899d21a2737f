//! The figures of a server, as `/metrics` tells them.

/// One reading of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerFigures(Vec<(String, String, f64)>);

impl ServerFigures {
    /// Reads the text format of Prometheus; lines that are none of it are passed over.
    pub(super) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self(lines.filter_map(figure).collect())
    }

    /// A figure without labels, or the sum over its labels.
    pub(super) fn of(&self, name: &str) -> Option<f64> {
        let mut all = self.all(name).peekable();
        all.peek()?;
        Some(all.map(|(_, value)| value).sum())
    }

    /// A figure for each of its labels.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = (&str, f64)> {
        let named = self.0.iter().filter(move |(found, ..)| found == name);
        named.map(|(_, labels, value)| (labels.as_str(), *value))
    }

    /// The value of a label of the first figure of this name.
    pub(super) fn label(&self, name: &str, label: &str) -> Option<&str> {
        let (labels, _) = self.all(name).find(|(_, value)| *value > 0.0)?;
        labels.split(',').find_map(|pair| {
            let (found, value) = pair.split_once('=')?;
            (found == label).then(|| value.trim_matches('"'))
        })
    }
}

/// `name{labels} value`, or the same without labels.
fn figure(line: &str) -> Option<(String, String, f64)> {
    let (name, value) = line.rsplit_once(' ')?;
    let (name, labels) = match name.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}')?),
        None => (name, ""),
    };
    Some((name.to_owned(), labels.to_owned(), value.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_name_and_label() {
        let figures = ServerFigures::parse(
            "# HELP a A.\na 3\nb{x=\"1\"} 2\nb{x=\"2\"} 5.5\nlevel{level=\"os\"} 0\nlevel{level=\"sync\"} 1\nnonsense\n",
        );
        assert_eq!(figures.of("a"), Some(3.0));
        assert_eq!(figures.of("b"), Some(7.5));
        assert_eq!(figures.of("c"), None);
        assert_eq!(figures.all("b").count(), 2);
        assert_eq!(figures.label("level", "level"), Some("sync"));
    }
}
