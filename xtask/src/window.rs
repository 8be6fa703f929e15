//! `cargo xtask window`: runs the example `window` on an X server of its own and checks what that server shows: with
//! a device that was rebuilt, and after a change of size, under both threading policies; then closes the window as a
//! user would.
//! Does not touch the screen in front of which you sit.

mod picture;
mod program;
mod screen;

use std::process::{Command, ExitStatus};

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use self::picture::Picture;
use self::program::Program;
use self::screen::Screen;
use crate::packages::{self, SOFTWARE_VULKAN, XVFB};
use crate::shell;
use crate::tally::Tally;
use crate::test::{self, WINDOW_EXAMPLE};

/// What the example calls its window.
const TITLE: &str = "Downbeat";
/// The example stops moving here.
const FRAMES: u64 = 24;
/// The sizes that a window has, one after the other. Neither fits into the other without bars.
const SIZES: [[u16; 2]; 2] = [[640, 400], [500, 420]];
/// How far a channel of a pixel may be from a picture that was drawn without a window.
const TOLERANCE: u8 = 2;
/// Frames within which the server must show what it should: some are on their way when we look.
const FRAMES_MAX: usize = 400;

/// Runs the example under each policy; each is one check.
pub(crate) fn run(workspace: &Metadata) -> Result<Tally> {
    if !packages::have(SOFTWARE_VULKAN)? || !packages::have(XVFB)? {
        println!("skipped: no X server or nothing to draw with");
        return Ok(Tally::default());
    }
    let example = test::example_executables(workspace)?
        .into_iter()
        .find(|executable| executable.file_stem() == Some(WINDOW_EXAMPLE))
        .with_context(|| format!("there is no example `{WINDOW_EXAMPLE}`"))?;
    let folder = workspace.target_directory.join("window");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {folder}"))?;
    let references = [reference(&example, &folder, SIZES[0])?, reference(&example, &folder, SIZES[1])?];
    let screen = Screen::start()?;

    let [small, large] = &references;
    let mut tally = Tally::default();
    for (policy, pictures) in [("single", [small, large]), ("multi", [large, small])] {
        let run = Run { screen: &screen, example: &example, folder: &folder, policy };
        match run.check(pictures) {
            Ok(()) => tally += Tally::ONE_PASSED,
            Err(error) => {
                println!("error: {WINDOW_EXAMPLE} under the policy {policy}: {error:#}");
                tally += Tally::ONE_FAILED;
            }
        }
    }
    println!("what the X server showed is in {folder}");
    Ok(tally)
}

/// The example's last frame, drawn without any window.
fn reference(example: &Utf8Path, folder: &Utf8Path, size: [u16; 2]) -> Result<Picture> {
    let path = folder.join(format!("offscreen-{}.png", text_of(size)));
    let mut command = Command::new(example);
    command.args(["--offscreen", "--frames", &FRAMES.to_string(), "--size", &text_of(size), "--shot"]);
    command.arg(&path).env("XDG_RUNTIME_DIR", folder);
    let status = shell::run_streamed(command)?.status;
    ensure!(status.success(), "the example cannot draw without a window: {status}");
    let picture = Picture::read(&path)?;
    ensure!(picture.colours() > 256, "{path} shows next to nothing, so nothing could be told from it");
    Ok(picture)
}

fn text_of([width, height]: [u16; 2]) -> String {
    format!("{width}x{height}")
}

/// A line that the example prints for each frame.
#[derive(Deserialize)]
struct Event {
    frame: u64,
    size: [u16; 2],
}

/// One run of the example.
struct Run<'a> {
    screen: &'a Screen,
    example: &'a Utf8Path,
    folder: &'a Utf8PathBuf,
    policy: &'static str,
}

impl Run<'_> {
    /// The pictures are what it must show, first and after it was resized.
    fn check(&self, [first, second]: [&Picture; 2]) -> Result<()> {
        let shot = self.folder.join(format!("{}-shot.png", self.policy));
        let mut command = Command::new(self.example);
        command.args(["--policy", self.policy, "--size", &text_of(first.size)]);
        command.args(["--frames", &FRAMES.to_string(), "--rebuild-at", "12", "--hold", "--events", "--shot"]);
        command.arg(&shot);
        command.env("DISPLAY", self.screen.display());
        // Without one of their own, drivers complain.
        command.env("XDG_RUNTIME_DIR", self.folder);
        // winit would rather open the window there.
        command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        println!("$ {}", shell::shown(&command));
        let mut program = Program::start(command)?;

        wait_for(&mut program, |event| event.frame == FRAMES).context("at first")?;
        let window = self.screen.window(TITLE)?;
        self.expect(&mut program, window, first).context("at first")?;
        self.screen.resize(window, second.size)?;
        wait_for(&mut program, |event| event.size == second.size).context("after the change of size")?;
        self.expect(&mut program, window, second).context("after the change of size")?;

        self.screen.close(window)?;
        let status = end_of(program)?;
        ensure!(status.success(), "it was asked to close its window and ended with {status}");
        let off = Picture::read(&shot)?.difference(second);
        ensure!(off <= TOLERANCE, "{shot} is not the last frame: a channel is {off} off");
        Ok(())
    }

    /// Looks at the window, frame by frame, until the server shows the picture.
    fn expect(&self, program: &mut Program, window: u32, expected: &Picture) -> Result<()> {
        let path = self.folder.join(format!("{}-{}.png", self.policy, text_of(expected.size)));
        for _ in 1..FRAMES_MAX {
            let seen = self.screen.picture(window, expected.size)?;
            if seen.difference(expected) <= TOLERANCE {
                return seen.write(&path);
            }
            wait_for(program, |_| true)?;
        }
        let seen = self.screen.picture(window, expected.size)?;
        seen.write(&path)?;
        let off = seen.difference(expected);
        bail!("the window shows something else, a channel is {off} off; compare {path} with offscreen-*.png")
    }
}

/// Reads events until one is wanted.
fn wait_for(program: &mut Program, wanted: impl Fn(&Event) -> bool) -> Result<()> {
    for _ in 0..FRAMES_MAX {
        let line = program.next_line()?.context("it ended")?;
        match event_of(&line) {
            Some(event) if wanted(&event) => return Ok(()),
            Some(_) => {}
            None => println!("{line}"),
        }
    }
    bail!("it has not come to this within {FRAMES_MAX} frames")
}

/// How it ends, now that it has been asked to.
fn end_of(mut program: Program) -> Result<ExitStatus> {
    for _ in 0..FRAMES_MAX {
        match program.next_line()? {
            Some(line) if event_of(&line).is_some() => {}
            Some(line) => println!("{line}"),
            None => return program.wait(),
        }
    }
    bail!("it was asked to close its window and has not within {FRAMES_MAX} frames")
}

fn event_of(line: &str) -> Option<Event> {
    serde_json::from_str(line).ok()
}
