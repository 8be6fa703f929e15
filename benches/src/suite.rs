//! The command line of a bench target and the printing of its figures: `[FILTER] [--json]`.
//!
//! FILTER is the beginning of a bench's name. It does not run anything: the target asks what is wanted.

use anyhow::{Result, bail};

use crate::figure::Figure;
use crate::instructions;

/// Knows which benches are wanted and prints what they found.
#[derive(Debug)]
pub struct Suite {
    filter: String,
    json: bool,
    /// Every name that was asked about, for the message when none was wanted.
    names: Vec<&'static str>,
    head_printed: bool,
    wanted_any: bool,
}

impl Suite {
    /// Reads the command line of the process.
    pub fn from_args() -> Result<Self> {
        Self::parse(std::env::args().skip(1))
    }

    fn parse(args: impl Iterator<Item = String>) -> Result<Self> {
        let mut suite = Self {
            filter: String::new(),
            json: false,
            names: Vec::new(),
            head_printed: false,
            wanted_any: false,
        };
        for arg in args {
            match arg.as_str() {
                "--json" => suite.json = true,
                // Cargo says so to every bench target.
                "--bench" => {}
                _ if arg.starts_with('-') => bail!("unknown option `{arg}`; usage: [FILTER] [--json]"),
                _ if suite.filter.is_empty() => suite.filter = arg,
                _ => bail!("more than one filter, `{}` and `{arg}`; usage: [FILTER] [--json]", suite.filter),
            }
        }
        Ok(suite)
    }

    /// Whether a bench of this name is to run.
    pub fn wants(&mut self, bench: &'static str) -> bool {
        self.names.push(bench);
        let wanted = bench.starts_with(&self.filter);
        self.wanted_any |= wanted;
        wanted
    }

    /// Whether any of several benches that are measured together is to run.
    pub fn wants_any(&mut self, benches: &[&'static str]) -> bool {
        benches.iter().fold(false, |any, bench| self.wants(bench) | any)
    }

    /// Prints a figure, unless it was only measured along with a wanted one.
    pub fn print(&mut self, figure: &Figure) -> Result<()> {
        if !figure.bench.starts_with(&self.filter) {
            return Ok(());
        }
        if self.json {
            figure.json_lines()?.iter().for_each(|line| println!("{line}"));
            return Ok(());
        }
        if !std::mem::replace(&mut self.head_printed, true) {
            println!("{}", Figure::table_head());
        }
        figure.table_rows().iter().for_each(|row| println!("{row}"));
        Ok(())
    }

    /// Whether instructions can be counted here. Where not, it says so, and under CI that is a failure.
    pub fn can_count(&self) -> Result<bool> {
        instructions::can_count()
    }

    /// Fails when the filter matched nothing, with the names there are.
    pub fn finish(self) -> Result<()> {
        if !self.wanted_any {
            bail!("no bench begins with `{}`; there are: {}", self.filter, self.names.join(", "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(args: &[&str]) -> Result<Suite> {
        Suite::parse(args.iter().map(ToString::to_string))
    }

    #[test]
    fn a_filter_is_the_beginning_of_a_name() {
        let mut suite = suite(&["time/dispatch", "--json", "--bench"]).unwrap();
        assert!(suite.json && suite.wants("time/dispatch_50") && !suite.wants("time/edit"));
        assert!(suite.wants_any(&["time/dispatch_50", "time/edit"]));
        assert!(suite.finish().is_ok());
    }

    #[test]
    fn a_filter_that_matches_nothing_fails_with_the_names() {
        let mut suite = suite(&["world"]).unwrap();
        assert!(!suite.wants("time/edit"));
        assert!(suite.finish().unwrap_err().to_string().contains("time/edit"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(suite(&["--fast"]).unwrap_err().to_string().contains("--fast"));
        assert!(suite(&["time", "world"]).is_err());
    }
}
