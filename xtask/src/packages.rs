//! Programs of the system that tests and benches need: asks whether they are there, and gets them where it may.
//! Does not install anything without the rights for it: then it says the exact command.

use std::io;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::shell;

/// Something of the system, and the Debian or Ubuntu packages that bring it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    name: &'static str,
    packages: &'static [&'static str],
    /// What it is needed for, to finish a sentence.
    purpose: &'static str,
    is_there: fn() -> bool,
}

/// Memory checks and instruction counts.
pub(crate) const VALGRIND: Need = Need {
    name: "valgrind",
    packages: &["valgrind"],
    purpose: "to check memory and to count instructions",
    is_there: || answers("valgrind"),
};

/// libFuzzer is C++, compiled with the fuzz targets.
pub(crate) const CPP_COMPILER: Need =
    Need { name: "g++", packages: &["g++"], purpose: "to build the fuzzer", is_there: || answers("c++") };

/// Pictures on a machine without a graphics device.
pub(crate) const SOFTWARE_VULKAN: Need = Need {
    name: "software Vulkan",
    packages: &["mesa-vulkan-drivers", "libvulkan1"],
    purpose: "to draw without a graphics device",
    is_there: || has_driver("/usr/share/vulkan/icd.d") || has_driver("/etc/vulkan/icd.d"),
};

/// Windows on a machine without a screen. winit loads the other packages when it opens one.
#[cfg(target_os = "linux")]
pub(crate) const XVFB: Need = Need {
    name: "Xvfb",
    packages: &[
        "xvfb",
        "libx11-6",
        "libx11-xcb1",
        "libxcursor1",
        "libxi6",
        "libxrandr2",
        "libxkbcommon0",
        "libxkbcommon-x11-0",
    ],
    purpose: "to open windows without a screen",
    is_there: has_x,
};

/// Whether it is there, after trying to install it. Where CI is true, a missing one is an error.
pub(crate) fn have(need: Need) -> Result<bool> {
    let Need { name, packages, purpose, is_there } = need;
    if is_there() {
        return Ok(true);
    }
    let mut install = vec!["apt-get", "install", "--yes", "--no-install-recommends"];
    install.extend(packages);
    if is_root() {
        eprintln!("{name} is missing; installing it {purpose}");
        // A package list that was never fetched, or is stale, is the usual reason to fail at first.
        if !apt(&install) {
            apt(&["apt-get", "update"]);
            apt(&install);
        }
        if is_there() {
            return Ok(true);
        }
    }
    let advice = format!("{name} is missing {purpose}; get it with: sudo {}", install.join(" "));
    ensure!(std::env::var("CI").as_deref() != Ok("true"), "{advice}");
    eprintln!("{advice}");
    Ok(false)
}

fn answers(program: &str) -> bool {
    let mut question = Command::new(program);
    question.arg("--version");
    shell::answers(question)
}

/// Any Vulkan driver will do; a real one does not need Mesa's.
fn has_driver(folder: &str) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut drivers| drivers.next().is_some())
}

/// The server and all that winit loads.
#[cfg(target_os = "linux")]
fn has_x() -> bool {
    // Not on every user's path.
    let mut libraries = Command::new("/sbin/ldconfig");
    libraries.arg("-p");
    let Ok(libraries) = shell::stdout_of(libraries) else { return false };
    let libraries = String::from_utf8_lossy(&libraries);
    let names = ["libX11.so.6", "libX11-xcb.so.1", "libXcursor.so.1", "libXi.so.6", "libXrandr.so.2"];
    let keyboard = ["libxkbcommon.so.0", "libxkbcommon-x11.so.0"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join("Xvfb").is_file())
        && names.iter().chain(&keyboard).all(|name| libraries.contains(name))
}

fn is_root() -> bool {
    let mut question = Command::new("id");
    question.arg("-u");
    shell::stdout_of(question).is_ok_and(|id| id.trim_ascii() == b"0")
}

/// Whether the command succeeded. Its output goes to stderr: stdout may be promised to JSON.
fn apt(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive").stdout(io::stderr());
    match shell::run_inherited(command) {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("{error:#}");
            false
        }
    }
}
