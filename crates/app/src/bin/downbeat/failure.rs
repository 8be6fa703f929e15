//! How a command ends when it does not succeed: one line on stderr and an exit code.
//!
//! It does not decide what is wrong; it only makes sure that every failure is told in the same shape.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::error::ContextKind;
use downbeat_app::SceneError;
use downbeat_world::LogError;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something that cannot be: exit code 2.
    Usage(String),
    /// Standard output did not take what was written: exit code 1, or 0 when the reader had enough.
    Output(io::Error),
    /// The run itself failed: exit code 1.
    Run(anyhow::Error),
}

impl Failure {
    /// A log that is not there was asked for wrongly, and so was a step that it does not have; else the log fails.
    pub(crate) fn of_log(folder: &Path, error: LogError) -> Self {
        let about = folder.display();
        match error {
            LogError::Missing | LogError::NoSuchStep { .. } => Self::Usage(format!("{about}: {error}")),
            error => Self::Run(anyhow::Error::new(error).context(about.to_string())),
        }
    }

    /// Tells the failure on stderr. `command` is whose help knows more.
    pub(crate) fn report(self, command: &str) -> ExitCode {
        let (code, message) = match self {
            Self::Usage(message) => (2, format!("{message}; see `{command} --help`")),
            // `downbeat … | head` closes the pipe when it has enough: that is not an error of ours.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Output(error) => {
                (1, format!("cannot write to standard output: {error}; look where it goes"))
            }
            Self::Run(error) => (1, format!("{error:#}")),
        };
        // With stderr gone too, the exit code is all that is left to tell.
        let _ = writeln!(io::stderr(), "error: {}", one_line(&message));
        ExitCode::from(code)
    }
}

impl From<SceneError> for Failure {
    /// A scene that is not there was asked for wrongly; one whose file is wrong fails.
    fn from(error: SceneError) -> Self {
        match error {
            SceneError::Unknown { .. } => Self::Usage(error.to_string()),
            SceneError::File(_) | SceneError::LayOut(_) => Self::Run(error.into()),
        }
    }
}

impl From<clap::Error> for Failure {
    /// Folds clap's page to what is wrong and its tip; the rest is what `--help` shows.
    fn from(error: clap::Error) -> Self {
        let page = error.render().to_string();
        // Cut from behind: an argument that is quoted in front may hold the same words.
        let mut told = before_last(&page, "\n\nFor more information");
        if error.get(ContextKind::Usage).is_some() {
            told = before_last(told, "\n\nUsage:");
        }
        let paragraphs = told.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let told = paragraphs.collect::<Vec<_>>().join("; ");
        Self::Usage(told.strip_prefix("error: ").unwrap_or(&told).to_owned())
    }
}

fn before_last<'a>(text: &'a str, mark: &str) -> &'a str {
    text.rfind(mark).map_or(text, |at| &text[..at])
}

/// The text without control characters: an argument may hold a line break, a message may not.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_debug());
        } else {
            line.push(character);
        }
    }
    line
}
