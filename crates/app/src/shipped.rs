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
    /// Files that it imports, by their paths beside it.
    files: &'static [(&'static str, &'static str)],
}

/// The scenes that come with Downbeat.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "arm",
        about: "a six-hinge arm sorts boxes: control at 50 Hz, physics at 500 Hz",
        text: include_str!("../../../scenes/arm.toml"),
        files: &[],
    },
    Shipped {
        name: "pile",
        about: "a thousand bodies fall into a pit",
        text: include_str!("../../../scenes/pile.toml"),
        files: &[],
    },
    Shipped {
        name: "pendulum",
        about: "a pendulum to check against the formula",
        text: include_str!("../../../scenes/pendulum.toml"),
        files: &[],
    },
    Shipped {
        name: "many_rates",
        about: "eight runners on one timeline",
        text: include_str!("../../../scenes/many_rates.toml"),
        files: &[],
    },
    Shipped {
        name: "quadruped",
        about: "a four-legged robot from an MJCF file stands on its feet",
        text: include_str!("../../../scenes/quadruped.toml"),
        files: &[("robots/quadruped.xml", include_str!("../../../scenes/robots/quadruped.xml"))],
    },
    Shipped {
        name: "cart2d",
        about: "a cart with a pole, in a plane",
        text: include_str!("../../../scenes/cart2d.toml"),
        files: &[],
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
    /// The files that it imports could not be laid out.
    #[error("cannot lay out the files of the shipped scene: {0}; is the folder for temporary files full?")]
    LayOut(#[from] std::io::Error),
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
    shipped.load(options)
}

impl Shipped {
    /// Imports read files, so those that a scene imports are laid out for as long as it loads.
    fn load(&self, options: &LoadOptions) -> Result<Scene, SceneError> {
        let folder = tempfile::tempdir()?;
        for (path, text) in self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or_else(|| folder.path()))?;
            std::fs::write(path, text)?;
        }
        let name = format!("{}.toml", self.name);
        let mut scene = Scene::from_text_with(self.text, &name, folder.path(), registry(), options)?;
        scene.set_folder("");
        Ok(scene)
    }
}
