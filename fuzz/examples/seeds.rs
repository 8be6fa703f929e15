//! Writes the seeds of all targets into `fuzz/seeds`: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`.
//! To be run again when a format changes; what is there under other names stays.

#[path = "../../crates/render/tests/models/files.rs"]
#[expect(dead_code, reason = "the rest is for the tests of models")]
mod files;

use std::error::Error;
use std::path::Path;

use downbeat_time::{Edit, Rate, RunnerConfig, RunnerId};
use downbeat_world::{
    Body, Collider, ComponentKind, EntityId, Entry, LoadOptions, LogSettings, Part, PartHashes, Pose,
    Registry, Scene, Shape, StepHashes, StepRun, Velocity, WorldCommand,
};
use glam::Vec3;

/// Files of the workspace that are seeds as they are.
const COPIED: [(&str, &str); 8] = [
    ("scene_file", "fuzz/scene.toml"),
    ("scene_file", "scenes/cart2d.toml"),
    ("scene_file", "scenes/many_rates.toml"),
    ("scene_file", "scenes/pendulum.toml"),
    ("scene_file", "scenes/pile.toml"),
    ("scene_file", "scenes/quadruped.toml"),
    ("urdf", "crates/physics/tests/data/arm.urdf"),
    ("mjcf", "scenes/robots/quadruped.xml"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (target, file) in COPIED {
        let name = Path::new(file).file_name().ok_or("every seed has a name")?.to_string_lossy().into_owned();
        // The target has one mesh, and scenes a few copies.
        let text = std::fs::read_to_string(root.join(file))?.replace("meshes/beam.stl", "mesh.obj");
        write(&root, target, &name, text.replace("count = 3", "count = ").as_bytes())?;
    }
    for (name, bytes) in files::cubes() {
        write(&root, "model", name, &bytes)?;
    }
    for (name, text) in ROBOTS {
        write(&root, if name.ends_with("urdf") { "urdf" } else { "mjcf" }, name, text.as_bytes())?;
    }
    for (name, commands) in commands()? {
        let bytes = commands.iter().map(postcard::to_stdvec).collect::<Result<Vec<_>, _>>()?.concat();
        write(&root, "command", name, &bytes)?;
    }
    for (name, bytes) in snapshots(&root)? {
        write(&root, "snapshot", name, &bytes)?;
    }
    for (name, bytes) in logs()? {
        write(&root, "log", name, &bytes)?;
    }
    Ok(())
}

fn write(root: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let folder = root.join("fuzz/seeds").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(name), bytes)?;
    println!("{target}/{name}: {} bytes", bytes.len());
    Ok(())
}

/// Small robots of both formats that have what the large ones lack.
const ROBOTS: [(&str, &str); 2] = [
    (
        "mesh.urdf",
        r#"<robot name="r"><link name="a"><collision><geometry><mesh filename="mesh.obj" scale="1 1 2"/></geometry></collision></link><link name="b"/><joint name="j" type="floating"><parent link="a"/><child link="b"/></joint></robot>"#,
    ),
    (
        "mesh.xml",
        r#"<mujoco model="r"><compiler angle="degree" eulerseq="xyz"/><default><geom density="500"/><default class="c"><joint damping="1"/></default></default><asset><mesh name="m" file="mesh.obj" scale="1 1 2"/></asset><worldbody><geom type="plane" size="0 0 1"/><body name="b" pos="0 0 1" euler="0 90 0"><freejoint/><geom type="mesh" mesh="m"/><body childclass="c"><joint name="j" type="hinge" axis="0 1 0" range="-90 30"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/><site name="s"/><body><joint type="ball"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body></body></worldbody><actuator><position joint="j" kp="10"/></actuator><keyframe><key name="k" qpos="0 0 1 1 0 0 0 0.3 1 0 0 0"/></keyframe></mujoco>"#,
    ),
];

/// Each kind of command, alone or behind the ones it needs.
fn commands() -> Result<Vec<(&'static str, Vec<WorldCommand>)>, Box<dyn Error>> {
    let ball = EntityId::new(5);
    let part = |x: f32| Part { pose: Pose::at(Vec3::X * x), shape: Shape::Sphere { radius: 0.1 } };
    let shapes = [
        Shape::Compound { parts: vec![part(0.0), part(1.0)] },
        Shape::Hull { points: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z] },
        Shape::Triangles { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y], indices: vec![[0, 1, 2]] },
        Shape::Heights { columns: 2, heights: vec![0.0; 4], size: Vec3::ONE },
    ];
    let shape = |shape| WorldCommand::Set { entity: ball, component: Collider::new(shape).into() };
    let spawned = vec![Pose::IDENTITY.into(), Body::default().into(), Velocity::default().into()];
    let push = WorldCommand::Push { entity: ball, linear: Vec3::X, angular: Vec3::Z };
    let configure = |subsystem: &str, settings: &str| WorldCommand::Configure {
        subsystem: subsystem.to_owned(),
        settings: settings.to_owned(),
    };
    let runner = RunnerConfig::new("Fast", "1000".parse::<Rate>()?);
    Ok(vec![
        ("spawn", vec![WorldCommand::Spawn { components: spawned }]),
        ("despawn", vec![WorldCommand::Despawn { entity: ball }]),
        ("shapes", shapes.into_iter().map(shape).collect()),
        ("remove", vec![WorldCommand::Remove { entity: ball, kind: ComponentKind::Velocity }]),
        ("push", vec![push]),
        ("drive", vec![WorldCommand::Drive { robot: EntityId::new(4), targets: vec![1.0] }]),
        ("configure", vec![configure("physics", "substeps = 2"), configure("tape", "frames_max = 1")]),
        (
            "time",
            vec![
                WorldCommand::Time(Edit::AddRunner(runner)),
                WorldCommand::Time(Edit::SetRate { runner: RunnerId::ROBOT, rate: "60".parse()? }),
                WorldCommand::Time(Edit::CloseGate(RunnerId::ROBOT)),
            ],
        ),
    ])
}

/// Scenes after a few steps: an empty one, one of every kind of subsystem without a solver, and one with both.
fn snapshots(root: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, Box<dyn Error>> {
    let text = std::fs::read_to_string(root.join("fuzz/scene.toml"))?;
    let mut bare: toml::Table = text.parse()?;
    if let Some(subsystems) = bare.get_mut("subsystem").and_then(toml::Value::as_array_mut) {
        subsystems
            .retain(|subsystem| !subsystem["kind"].as_str().is_some_and(|kind| kind.contains("rapier")));
    }
    let mut saved = Vec::new();
    for (name, text) in [("solvers", text), ("bare", toml::to_string(&bare)?)] {
        let registry = downbeat_physics::registry();
        let mut scene = Scene::from_text_with(&text, name, "".as_ref(), registry, &LoadOptions::default())?;
        scene.run_steps(6).map_err(|error| error.to_string())?;
        saved.push((name, scene.save()?));
    }
    saved.push(("empty", Scene::new("", 1, Registry::builtin()).save()?));
    Ok(saved)
}

/// Contents of commits, and a whole segment.
fn logs() -> Result<Vec<(&'static str, Vec<u8>)>, Box<dyn Error>> {
    let command = WorldCommand::Set { entity: EntityId::new(1), component: Pose::at(Vec3::X).into() };
    let rate = WorldCommand::Time(Edit::SetRate { runner: RunnerId::CAPTURE, rate: Rate::hz(20)? });
    let hashes = vec![StepHashes::new(1, 2); 3];
    let bookkeeping = [1; 8];
    let parts = PartHashes { step: 3, bookkeeping, subsystems: vec![[2; 8]], components: Vec::new() };
    let entries = [
        vec![Entry::Command { step: 0, command: command.clone() }, Entry::Command { step: 0, command: rate }],
        vec![Entry::Skipped { step: 0, nanos: 5_000_000 }, Entry::Command { step: 0, command }],
        vec![Entry::Steps(StepRun { first: 1, now_nanos: 40_000_000, hashes }), Entry::Parts(parts)],
        vec![Entry::Rewound { to: 0 }],
    ];
    let mut seeds = Vec::new();
    for (name, entries) in ["commands", "skipped", "steps", "rewound"].into_iter().zip(entries) {
        let bytes = entries.iter().map(postcard::to_stdvec).collect::<Result<Vec<_>, _>>()?.concat();
        seeds.push((name, bytes));
    }
    let folder = tempfile::tempdir()?;
    let mut scene = Scene::new("fuzz", 1, Registry::builtin());
    scene.start_log(folder.path(), LogSettings::default())?;
    scene.run_steps(70)?;
    scene.close_log()?;
    seeds.push(("segment", std::fs::read(folder.path().join("segment-00000001.log"))?));
    Ok(seeds)
}
