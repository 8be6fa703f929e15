//! A program that runs beside us and tells by lines what it does: read with a time limit, ended when we are.
//! Starts no threads.

use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::shell;

/// A program that says nothing for so long has hung.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Killed when dropped, whatever happens.
pub(super) struct Program {
    name: String,
    child: Child,
    stdout: BufReader<UnixStream>,
}

impl Program {
    /// Starts it with its stdout to us and its stderr to the user.
    pub(super) fn start(mut command: Command) -> Result<Self> {
        let name = shell::shown(&command);
        // A socket instead of a pipe: reading from it can be given a time limit.
        let (ours, theirs) = UnixStream::pair().context("cannot make a socket")?;
        ours.set_read_timeout(Some(SILENCE_MAX)).context("cannot limit the time to read")?;
        command.stdin(Stdio::null()).stdout(OwnedFd::from(theirs));
        let child = command.spawn().with_context(|| format!("cannot start `{name}`"))?;
        Ok(Self { name, child, stdout: BufReader::new(ours) })
    }

    /// What it says next; `None` once it has ended.
    pub(super) fn next_line(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let len = self
            .stdout
            .read_line(&mut line)
            .with_context(|| format!("`{}` has said nothing for {} s", self.name, SILENCE_MAX.as_secs()))?;
        Ok((len > 0).then(|| line.trim_end().to_owned()))
    }

    /// How it ended, once its lines have.
    pub(super) fn wait(mut self) -> Result<ExitStatus> {
        self.child.wait().with_context(|| format!("cannot wait for `{}`", self.name))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only if it has ended, which is what they are for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Program {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Program::start(command).unwrap()
    }

    #[test]
    fn lines_come_one_by_one_and_then_the_status() {
        let mut program = sh("echo one; echo two; exit 3");
        assert_eq!(program.next_line().unwrap().as_deref(), Some("one"));
        assert_eq!(program.next_line().unwrap().as_deref(), Some("two"));
        assert_eq!(program.next_line().unwrap(), None);
        assert_eq!(program.wait().unwrap().code(), Some(3));
    }

    #[test]
    fn a_dropped_program_is_gone() {
        let mut program = sh("echo $$; exec sleep 1000");
        let id = program.next_line().unwrap().unwrap();
        drop(program);
        assert!(!std::path::Path::new("/proc").join(id).exists());
    }
}
