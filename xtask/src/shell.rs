//! Runs child processes: echoes each command, then streams, captures or inherits its output.
//! Does not interpret what they print, and starts no threads.

use std::ffi::OsStr;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::camino::Utf8Path;

/// A child process that ended, with all that it wrote to stdout and stderr, in order.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
}

/// The cargo that runs us, in the workspace's root whatever folder the user is in.
pub(crate) fn cargo(root: &Utf8Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs a command and shows its output as it comes while keeping a copy of it.
pub(crate) fn run_streamed(command: Command) -> Result<Finished> {
    println!("$ {}", shown(&command));
    run_captured(command, true)
}

/// Runs a command and keeps its output; shows nothing.
pub(crate) fn run_quietly(command: Command) -> Result<Finished> {
    run_captured(command, false)
}

/// Runs a command that owns the terminal; only the echo, on stderr, is ours.
pub(crate) fn run_inherited(mut command: Command) -> Result<ExitStatus> {
    eprintln!("$ {}", shown(&command));
    command.status().with_context(|| format!("cannot start `{}`", shown(&command)))
}

/// Runs a command for what it writes to stdout; its stderr is shown. It must succeed.
pub(crate) fn stdout_of(mut command: Command) -> Result<Vec<u8>> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{}`", shown(&command)))?;
    ensure!(output.status.success(), "`{}` failed: {}", shown(&command), output.status);
    Ok(output.stdout)
}

/// Whether a program is installed: asked with a harmless question such as `--version`, it answers.
pub(crate) fn answers(mut question: Command) -> bool {
    question.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// Adds to a flags variable rather than replacing what the user has set.
pub(crate) fn append_flags(command: &mut Command, variable: &str, flags: &str) {
    let flags = match std::env::var(variable) {
        Ok(set) if !set.is_empty() => format!("{set} {flags}"),
        _ => flags.to_owned(),
    };
    command.env(variable, flags);
}

/// The command as one would type it, with the variables set for it.
pub(crate) fn shown(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.to_string_lossy(), quoted(value)));
        }
    }
    let program = command.get_program();
    words.push(quoted(Path::new(program).file_name().unwrap_or(program)));
    words.extend(command.get_args().map(quoted));
    words.join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("'{word}'")
    } else {
        word.into_owned()
    }
}

fn run_captured(mut command: Command, stream: bool) -> Result<Finished> {
    let line = shown(&command);
    if stream && std::io::stdout().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    // One pipe for both streams keeps their order, and one reader needs no thread.
    let (mut reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().context("cannot make a pipe")?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot start `{line}`"))?;
    // The command still holds the writing ends; unless they close, the reader never sees the end.
    drop(command);

    let mut captured = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let len = reader.read(&mut chunk).with_context(|| format!("cannot read from `{line}`"))?;
        if len == 0 {
            break;
        }
        captured.extend_from_slice(&chunk[..len]);
        if stream {
            let mut stdout = std::io::stdout().lock();
            stdout
                .write_all(&chunk[..len])
                .and_then(|()| stdout.flush())
                .context("cannot write to stdout")?;
        }
    }
    let status = child.wait().with_context(|| format!("cannot wait for `{line}`"))?;
    Ok(Finished { status, output: without_colours(&String::from_utf8_lossy(&captured)) })
}

/// Drops the terminal's escape sequences, which would hide words from the parsers.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            plain.push(char);
            continue;
        }
        // A sequence is `ESC [`, parameters, and one final letter.
        if chars.next() == Some('[') {
            chars.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_are_captured_in_order() {
        let finished = run_quietly(sh("echo one; echo two >&2; echo three; exit 7")).unwrap();
        assert_eq!(finished.output, "one\ntwo\nthree\n");
        assert_eq!(finished.status.code(), Some(7));
    }

    #[test]
    fn a_missing_program_does_not_answer() {
        assert!(answers(sh("true")));
        assert!(!answers(sh("false")));
        assert!(!answers(Command::new("no-such-program-of-downbeat")));
    }

    #[test]
    fn colours_are_dropped() {
        assert_eq!(without_colours("\u{1b}[32;1m     Summary\u{1b}[0m [ 0.5s]"), "     Summary [ 0.5s]");
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = Command::new("/opt/bin/cargo");
        command.args(["doc", "a b"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), "RUSTDOCFLAGS='-D warnings' cargo doc 'a b'");
    }
}
