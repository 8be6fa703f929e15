//! Scene files: any text, with all kinds of subsystems. It reads no other files: imports are refused here, and have
//! targets of their own.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use downbeat_time::BoxError;
use downbeat_world::{LoadOptions, Registry, Scene, World};

/// Copies that a file may ask for: a line of text can ask for thousands, which is what scatters are for, and would
/// take all the time there is.
const COPIES_MAX: i64 = 128;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(downbeat_fuzz::folder);

libfuzzer_sys::fuzz_target!(init: downbeat_fuzz::start(), |input: &[u8]| downbeat_fuzz::run(input, |input| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(mut scene) = load(text) else { return };
    let written = scene.to_text().expect("there is no native code in it");
    let again = load(&written).map(|again| again.to_text());
    let again = again.unwrap_or_else(|error| panic!("what was written is refused: {error}\n{written}"));
    assert_eq!(written, again.expect("there is no native code in it"), "what was written reads otherwise");
    let _ = scene.run_steps(2);
}));

fn load(text: &str) -> Result<Scene, String> {
    if copies(text) > COPIES_MAX {
        return Err("too many copies for here".to_owned());
    }
    Scene::from_text_with(text, "fuzz.toml", &FOLDER, registry(), &LoadOptions::default())
        .map_err(|error| error.to_string())
}

/// What the scatters of a file ask for.
fn copies(text: &str) -> i64 {
    let Ok(table) = text.parse::<toml::Table>() else { return 0 };
    let scatters = table.get("scatter").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let counts = scatters.iter().filter_map(|scatter| scatter.get("count")?.as_integer());
    counts.fold(0, i64::saturating_add)
}

fn registry() -> Registry {
    let mut registry = downbeat_physics::registry();
    for extension in ["urdf", "xml", "mjcf"] {
        registry.add_importer(extension, refuse);
    }
    registry
}

fn refuse(_: &Path, _: &toml::Table, _: &mut World) -> Result<(), BoxError> {
    Err("this target reads no other files".into())
}
