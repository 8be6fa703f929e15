//! One figure beside its peers, as a line of JSON or of a table. Does not measure anything.

use serde::Serialize;

use crate::race::Measured;

/// A measured value and what the peers need for the same work.
#[derive(Debug, Clone)]
pub struct Figure {
    pub(crate) bench: &'static str,
    unit: &'static str,
    value: f64,
    peers: Vec<(&'static str, f64)>,
}

/// The columns of the table, which its head shares with its rows.
const HEAD: [&str; 5] = ["bench", "value", "peer", "peer's value", "ratio"];

impl Figure {
    /// A figure without a peer yet.
    pub fn new(bench: &'static str, unit: &'static str, value: f64) -> Self {
        Self { bench, unit, value, peers: Vec::new() }
    }

    /// The first of a race beside the others. A peer that ran under one name in several ways counts with its best.
    pub fn of_race(bench: &'static str, unit: &'static str, ours: Measured, peers: &[Measured]) -> Self {
        let mut figure = Self::new(bench, unit, ours.nanos);
        for peer in peers {
            match figure.peers.iter_mut().find(|(name, _)| *name == peer.name) {
                Some((_, best)) => *best = best.min(peer.nanos),
                None => figure = figure.against(peer.name, peer.nanos),
            }
        }
        figure
    }

    /// The same figure beside one more peer.
    #[must_use]
    pub fn against(mut self, peer: &'static str, value: f64) -> Self {
        self.peers.push((peer, value));
        self
    }

    /// One object per peer; a figure without a peer is one object as well.
    pub(crate) fn json_lines(&self) -> Result<Vec<String>, serde_json::Error> {
        self.lines().iter().map(serde_json::to_string).collect()
    }

    /// The same lines for people.
    pub(crate) fn table_rows(&self) -> Vec<String> {
        let rows = self.lines().into_iter().map(|line| {
            let with_unit = |value: f64| format!("{value} {}", self.unit);
            row([
                line.bench,
                &with_unit(line.value),
                line.peer.unwrap_or("-"),
                &line.peer_value.map_or_else(|| "-".to_owned(), with_unit),
                &line.ratio.map_or_else(|| "-".to_owned(), |ratio| self.in_words(ratio)),
            ])
        });
        rows.collect()
    }

    pub(crate) fn table_head() -> String {
        row(HEAD)
    }

    /// A small ratio is hard to picture, so it is also told the other way round.
    fn in_words(&self, ratio: f64) -> String {
        if ratio <= 0.0 || ratio > 0.5 {
            return ratio.to_string();
        }
        let better = if self.unit.starts_with("ns") { "faster" } else { "less" };
        format!("{ratio}, {} times {better}", rounded(1.0 / ratio))
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let alone = Line {
            bench: self.bench,
            value: rounded(self.value),
            unit: self.unit,
            peer: None,
            peer_value: None,
            ratio: None,
        };
        if self.peers.is_empty() {
            return vec![alone];
        }
        let beside = |&(peer, value): &(&'static str, f64)| Line {
            peer: Some(peer),
            peer_value: Some(rounded(value)),
            ratio: (value > 0.0).then(|| rounded(self.value / value)),
            ..alone
        };
        self.peers.iter().map(beside).collect()
    }
}

#[derive(Clone, Copy, Serialize)]
struct Line<'a> {
    bench: &'a str,
    value: f64,
    unit: &'a str,
    peer: Option<&'a str>,
    peer_value: Option<f64>,
    /// Always ours by theirs: below 1 we are the faster.
    ratio: Option<f64>,
}

fn row(cells: [&str; 5]) -> String {
    let [bench, value, peer, peer_value, ratio] = cells;
    format!("{bench:<27} {value:>24}  {peer:<19} {peer_value:>24}  {ratio}")
}

/// Three digits: more would be noise in a race and ballast in a count.
fn rounded(value: f64) -> f64 {
    // Through text, because scaling by a power of ten and back leaves tails such as 0.30000000000000004.
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_per_peer_with_the_ratio_of_ours_by_theirs() {
        let figure = Figure::new("time/x", "ns/callback", 2.4001).against("boxed closures", 2.0);
        let lines = figure.against("bevy", 96.0).json_lines().unwrap();
        assert_eq!(
            lines,
            [
                r#"{"bench":"time/x","value":2.4,"unit":"ns/callback","peer":"boxed closures","peer_value":2.0,"ratio":1.2}"#,
                r#"{"bench":"time/x","value":2.4,"unit":"ns/callback","peer":"bevy","peer_value":96.0,"ratio":0.025}"#,
            ]
        );
    }

    #[test]
    fn without_a_peer_the_fields_are_null() {
        let lines = Figure::new("time/x", "us", 123_456.0).json_lines().unwrap();
        let expected =
            r#"{"bench":"time/x","value":123000.0,"unit":"us","peer":null,"peer_value":null,"ratio":null}"#;
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn a_peer_that_ran_in_two_ways_counts_with_its_best() {
        let measured = |name, nanos| Measured { name, nanos };
        let peers = [measured("loop", 2.0), measured("bevy", 9.0), measured("loop", 1.0)];
        let figure = Figure::of_race("time/x", "ns", measured("ours", 1.5), &peers);
        assert_eq!(figure.peers, [("loop", 1.0), ("bevy", 9.0)]);
    }

    #[test]
    fn people_read_how_many_times_faster() {
        let figure = Figure::new("time/x", "ns", 2.0).against("bevy", 100.0);
        assert!(figure.table_rows()[0].contains("0.02, 50 times faster"), "{:?}", figure.table_rows());
    }
}
