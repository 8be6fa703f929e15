//! The few colours of the terminal output.
//!
//! Only for a terminal that wants them: text that goes to a file or a pipe stays plain.

use std::io::{self, IsTerminal as _};

/// Colours text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

/// What a piece of text is, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As the terminal shows text.
    Plain,
    /// Titles and figures that matter.
    Strong,
    /// Lines, axes and remarks.
    Faint,
    /// Where runners meet.
    Shared,
    /// What belongs to one runner, by its number.
    Runner(usize),
}

impl Paint {
    /// For standard output: on when it is a terminal, unless `NO_COLOR` says otherwise.
    pub(crate) fn for_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { on: io::stdout().is_terminal() && !unwanted && !dumb }
    }

    pub(crate) fn text(self, style: Style, text: &str) -> String {
        if !self.on || style == Style::Plain || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{}m{text}\x1b[0m", code(style))
    }
}

fn code(style: Style) -> &'static str {
    /// Told apart on dark and light grounds; yellow is left to shared steps.
    const RUNNERS: [&str; 5] = ["36", "35", "32", "34", "31"];
    match style {
        Style::Plain => "0",
        Style::Strong => "1",
        Style::Faint => "2",
        Style::Shared => "1;33",
        Style::Runner(number) => RUNNERS[number % RUNNERS.len()],
    }
}
