//! Saving and loading a scene with 10,000 entities, 1,000 of them bodies in contact, beside a copy of the same bytes.

use std::hint::black_box;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_physics::registry;
use downbeat_world::{Pose, Scene};

use crate::scenes;

const BENCHES: [&str; 4] =
    ["world/snapshot_save", "world/snapshot_load", "world/snapshot_save_rate", "world/snapshot_load_rate"];
const ENTITIES: usize = 10_000;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let mut scene = scenes::load("pile")?;
    while scene.world().entities().len() < ENTITIES {
        let number = scene.world().entities().len();
        scene.world_mut().spawn(format!("marker {number}"), Pose::at(glam::Vec3::splat(number as f32)));
    }
    scene.run_for(std::time::Duration::from_secs(2))?;
    let saved = scene.save()?;
    let megabytes = saved.len() as f64 / 1e6;
    let copy = || Contestant::new("memcpy", || black_box(saved.clone()).len() as u64);
    let save = Contestant::new("save", || scene.save().expect("it can be saved").len() as u64);
    let save = race(1, vec![save, copy()])?;
    let load = Contestant::new("load", || {
        let again = Scene::from_snapshot(&saved, registry()).expect("it was saved");
        black_box(again.world().entities().len());
        saved.len() as u64
    });
    let load = race(1, vec![load, copy()])?;
    let [save_name, load_name, save_rate, load_rate] = BENCHES;
    suite.print(&Figure::new(save_name, "ms", save[0].nanos / 1e6).against("memcpy", save[1].nanos / 1e6))?;
    suite.print(&Figure::new(load_name, "ms", load[0].nanos / 1e6).against("memcpy", load[1].nanos / 1e6))?;
    suite.print(&Figure::new(save_rate, "MB/s", megabytes / (save[0].nanos / 1e9)))?;
    suite.print(&Figure::new(load_rate, "MB/s", megabytes / (load[0].nanos / 1e9)))
}
