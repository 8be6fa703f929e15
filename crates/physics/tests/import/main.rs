//! Robots from files: what they become, what is said of what they do not, and that no file does harm.

mod damage;
mod mjcf;
mod scenes;
mod urdf;

use std::path::PathBuf;

use downbeat_physics::{ImportOptions, ImportReport, import_mjcf};
use downbeat_world::World;

/// The arm of the tests with the mesh that it names, in a folder of its own.
fn arm_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder to write to");
    std::fs::create_dir(folder.path().join("meshes")).expect("it is empty");
    let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|bits: u8| {
        let side = |bit: u8, half: f32| if bits & bit == 0 { -half } else { half };
        format!("vertex {} {} {}\n", side(1, 0.15), side(2, 0.02), side(4, 0.04))
    });
    std::fs::write(folder.path().join("meshes/beam.stl"), format!("solid\n{}endsolid", corners.concat()))
        .expect("a folder to write to");
    let path = folder.path().join("arm.urdf");
    std::fs::write(&path, include_str!("../data/arm.urdf")).expect("a folder to write to");
    (folder, path)
}

fn mjcf(text: &str) -> Result<(World, ImportReport), String> {
    mjcf_with(text, &ImportOptions::default())
}

fn mjcf_with(text: &str, options: &ImportOptions) -> Result<(World, ImportReport), String> {
    let folder = tempfile::tempdir().expect("a folder to write to");
    let path = folder.path().join("robot.xml");
    std::fs::write(&path, text).expect("a folder to write to");
    let mut world = World::new(1);
    let report = import_mjcf(&path, options, &mut world).map_err(|error| error.to_string())?;
    Ok((world, report))
}

fn named(world: &World, name: &str) -> downbeat_world::EntityId {
    world.find(name).unwrap_or_else(|| panic!("there is no {name}"))
}
