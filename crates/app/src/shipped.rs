//! The scenes that come with Downbeat, inside the program, so that they can be named from anywhere.

use std::path::Path;

use downbeat_physics::registry;
use downbeat_world::{LoadOptions, Scene, SceneFileError};
use thiserror::Error;

/// A scene that comes with Downbeat.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// What to call it.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    text: &'static str,
}

/// The scenes that come with Downbeat.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "arm",
        about: "a six-hinge arm sorts boxes: control at 50 Hz, physics at 500 Hz",
        text: include_str!("../../../scenes/arm.toml"),
    },
    Shipped {
        name: "pile",
        about: "a thousand bodies fall into a pit",
        text: include_str!("../../../scenes/pile.toml"),
    },
    Shipped {
        name: "pendulum",
        about: "a pendulum to check against the formula",
        text: include_str!("../../../scenes/pendulum.toml"),
    },
    Shipped {
        name: "many_rates",
        about: "eight runners on one timeline",
        text: include_str!("../../../scenes/many_rates.toml"),
    },
];

/// Why a scene could not be had.
#[derive(Debug, Error)]
pub enum SceneError {
    /// It is neither a file nor a shipped scene.
    #[error("there is no scene `{name}`: no such file, and the shipped scenes are {shipped}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        shipped: String,
    },
    /// Its file is wrong.
    #[error(transparent)]
    File(#[from] SceneFileError),
}

/// A scene by its file or, if there is no such file, by the name it was shipped under.
pub fn load_scene(scene: &str, options: &LoadOptions) -> Result<Scene, SceneError> {
    let path = Path::new(scene);
    if path.is_file() {
        return Ok(Scene::load_file_with(path, registry(), options)?);
    }
    let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == scene) else {
        let names: Vec<_> = SHIPPED.iter().map(|shipped| shipped.name).collect();
        return Err(SceneError::Unknown { name: scene.to_owned(), shipped: names.join(", ") });
    };
    Ok(Scene::from_text_with(shipped.text, &format!("{scene}.toml"), Path::new(""), registry(), options)?)
}
