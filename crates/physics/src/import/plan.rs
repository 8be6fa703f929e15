//! A robot as a file describes it, in the world's own terms: what every format is turned into, and how it is spawned.

use std::collections::BTreeMap;
use std::path::Path;

use downbeat_world::{
    Body, BodyKind, Collider, Component, Datum, ENTITIES_MAX, EntityId, Joint, JointKind, JointState,
    MassProperties, Mesh, Motor, MotorTarget, Name, Parent, Pose, Robot, UserData, World,
};
use glam::{Quat, Vec3};

use super::limits::{LINKS_MAX, NOTE_LEN_MAX, NOTES_MAX, SHAPES_MAX};
use super::{ImportError, ImportOptions, ImportReport};

/// The collision group of robots that do not touch themselves.
const SELF_GROUP: u32 = 1 << 31;

/// A robot, ready to be spawned.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) name: String,
    /// Parents first.
    pub(super) links: Vec<Link>,
    /// What stands around it and never moves.
    pub(super) surroundings: Vec<Part>,
    pub(super) keyframes: BTreeMap<String, Keyframe>,
    pub(super) notes: Notes,
}

/// A body of the robot.
pub(super) struct Link {
    pub(super) name: String,
    /// The link that it hangs on, by its place in the list.
    pub(super) parent: Option<usize>,
    /// Where it is with all joints at zero, seen from its parent, or from the robot.
    pub(super) pose: Pose,
    pub(super) hold: Hold,
    pub(super) mass: Option<MassProperties>,
    pub(super) gravity_scale: f32,
    pub(super) parts: Vec<Part>,
    /// Named places on it.
    pub(super) frames: Vec<(String, Pose)>,
}

/// What holds a link.
pub(super) enum Hold {
    /// It does not move.
    World,
    /// Its velocity moves it.
    Path,
    /// Nothing.
    Free { name: String },
    /// A joint, on its parent or, without one, on the world.
    Joint { name: String, joint: Joint },
}

/// Something of a link to collide with, to see, or both.
pub(super) struct Part {
    pub(super) name: Option<String>,
    pub(super) collider: Option<Collider>,
    pub(super) mesh: Option<Mesh>,
}

/// Where all joints are, and what their motors are to do there.
pub(super) struct Keyframe {
    /// All positions, in the order of joints.
    pub(super) positions: Vec<f32>,
    /// By link; motors without one hold where the joint is.
    pub(super) targets: BTreeMap<usize, MotorTarget>,
}

/// What the file asks for and does not get.
#[derive(Default)]
pub(super) struct Notes {
    kept: Vec<String>,
    lost: usize,
}

impl Notes {
    pub(super) fn push(&mut self, note: impl Into<String>) {
        let mut note = note.into();
        if self.kept.len() >= NOTES_MAX {
            self.lost += 1;
        } else if !self.kept.contains(&note) {
            note.truncate(note.floor_char_boundary(NOTE_LEN_MAX));
            self.kept.push(note);
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.lost > 0 {
            self.kept.push(format!("and {} more", self.lost));
        }
        self.kept
    }
}

impl Link {
    /// A link without shapes, at its parent's own place.
    pub(super) fn new(name: impl Into<String>, parent: Option<usize>, hold: Hold) -> Self {
        Self {
            name: name.into(),
            parent,
            pose: Pose::IDENTITY,
            hold,
            mass: None,
            gravity_scale: 1.0,
            parts: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// The joint that has coordinates, if it has one.
    fn kind(&self) -> Option<JointKind> {
        match &self.hold {
            Hold::Free { .. } => Some(JointKind::Free),
            Hold::Joint { joint, .. } => Some(joint.kind).filter(|kind| kind.position_len() > 0),
            Hold::World | Hold::Path => None,
        }
    }

    /// Whether anything can move it.
    pub(super) fn moves(&self) -> bool {
        !matches!(self.hold, Hold::World)
    }
}

impl Plan {
    /// Spawns the robot, whole or not at all.
    pub(super) fn spawn(
        mut self,
        file: &Path,
        options: &ImportOptions,
        world: &mut World,
    ) -> Result<ImportReport, ImportError> {
        let wrong = |what: String| ImportError::wrong(file, what);
        self.check_sizes(world).map_err(wrong)?;
        if let Some(motor) = options.motor {
            self.drive_with(motor);
        }
        let start = self.start(options).map_err(wrong)?;
        // Ids count up and nothing else spawns meanwhile, so all of them are known before the first is used.
        let mut builder = Builder { next: world.entities().next_id().number(), rows: Vec::new() };
        let spawned = self.build(file, options, &start, &mut builder);
        for (id, components) in &builder.rows {
            for component in components {
                component.check().map_err(|what| wrong(format!("{}: {what}", name_of(components, *id))))?;
            }
        }
        for (id, components) in builder.rows {
            let born = world.spawn("", Pose::IDENTITY);
            debug_assert_eq!(born, id, "ids count up");
            components.into_iter().for_each(|component| world.set(born, component));
        }
        Ok(ImportReport { notes: self.notes.finish(), ..spawned })
    }

    fn check_sizes(&self, world: &World) -> Result<(), String> {
        let shapes = self.surroundings.len() + self.links.iter().map(|link| link.parts.len()).sum::<usize>();
        if self.links.len() > LINKS_MAX {
            return Err(format!("it has {} links; a robot has at most {LINKS_MAX}", self.links.len()));
        }
        if shapes > SHAPES_MAX {
            return Err(format!("it has {shapes} shapes; a robot has at most {SHAPES_MAX}"));
        }
        let frames = self.links.iter().map(|link| link.frames.len()).sum::<usize>();
        if world.entities().len() + 1 + self.links.len() + shapes + frames > ENTITIES_MAX {
            return Err(format!("the world is full: it has room for {ENTITIES_MAX} entities"));
        }
        Ok(())
    }

    /// Puts a motor on every joint that can have one and has none.
    fn drive_with(&mut self, motor: Motor) {
        for link in &mut self.links {
            let Hold::Joint { joint, .. } = &mut link.hold else { continue };
            if matches!(joint.kind, JointKind::Hinge { .. } | JointKind::Slide { .. }) {
                joint.motor.get_or_insert(motor);
            }
        }
    }

    /// All positions where the file has everything at rest: zero, and every free link in its place.
    pub(super) fn rest_positions(&self) -> Vec<f32> {
        let mut positions = Vec::new();
        for link in &self.links {
            match link.kind() {
                Some(JointKind::Free) => {
                    positions.extend(link.pose.position.to_array());
                    positions.extend(link.pose.rotation.to_array());
                }
                Some(JointKind::Ball) => positions.extend(Quat::IDENTITY.to_array()),
                Some(_) => positions.push(0.0),
                None => {}
            }
        }
        positions
    }

    /// What it starts in.
    fn start(&self, options: &ImportOptions) -> Result<Keyframe, String> {
        let Some(name) = &options.start_keyframe else {
            return Ok(Keyframe { positions: self.rest_positions(), targets: BTreeMap::new() });
        };
        let Some(named) = self.keyframes.get(name) else {
            let known: Vec<_> = self.keyframes.keys().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("there is no keyframe `{name}`; there are {known}"));
        };
        Ok(Keyframe { positions: named.positions.clone(), targets: named.targets.clone() })
    }

    /// Everything that is to be spawned, with its id.
    fn build(
        &mut self,
        file: &Path,
        options: &ImportOptions,
        start: &Keyframe,
        builder: &mut Builder,
    ) -> ImportReport {
        let name = options.name.clone().unwrap_or_else(|| self.name.clone());
        let robot = builder.add(vec![Name(name).into(), options.pose.into()]);
        let ids: Vec<_> = self.links.iter().map(|_| builder.add(Vec::new())).collect();
        let mut joints = Vec::new();
        let mut poses = Vec::new();
        let mut positions = start.positions.as_slice();
        for (at, link) in self.links.iter_mut().enumerate() {
            let kind = link.kind();
            let (own, rest) = positions.split_at(kind.map_or(0, JointKind::position_len));
            positions = rest;
            let above = link.parent.map_or(Pose::IDENTITY, |parent| poses[parent]);
            let pose = placed(above, link, own);
            poses.push(pose);
            joints.extend(kind.map(|_| ids[at]));
            let target = start.targets.get(&at).copied();
            let to = link.parent.map(|parent| ids[parent]);
            let mut components = vec![Name(link.name.clone()).into(), Parent(robot).into(), pose.into()];
            components.push(body(link).into());
            components.extend(held(link, to, own, target));
            builder.rows[ids[at].number() as usize - robot.number() as usize].1.extend(components);
            spawn_parts(std::mem::take(&mut link.parts), ids[at], true, &link.name, options, builder);
            for (name, pose) in std::mem::take(&mut link.frames) {
                builder.add(vec![Name(name).into(), Parent(ids[at]).into(), pose.into()]);
            }
        }
        spawn_parts(std::mem::take(&mut self.surroundings), robot, false, "surroundings", options, builder);
        let leaf = |at: &usize| !self.links.iter().any(|link| link.parent == Some(*at));
        let tools = (0..ids.len()).filter(leaf).map(|at| ids[at]).collect();
        let keyframes = std::mem::take(&mut self.keyframes);
        let keyframes = keyframes.into_iter().map(|(name, keyframe)| (name, keyframe.positions)).collect();
        let notes = std::mem::take(&mut self.notes).finish();
        builder.rows[0].1.extend([
            Robot { joints: joints.clone(), tools, keyframes }.into(),
            UserData(told(file, &notes)).into(),
        ]);
        self.notes.kept.clone_from(&notes);
        ImportReport { robot, links: ids, joints, notes }
    }
}

/// Components by the id that they will have.
struct Builder {
    next: u64,
    rows: Vec<(EntityId, Vec<Component>)>,
}

impl Builder {
    fn add(&mut self, components: Vec<Component>) -> EntityId {
        let id = EntityId::new(self.next);
        self.next += 1;
        self.rows.push((id, components));
        id
    }
}

/// Where a link is when its joint is there.
fn placed(above: Pose, link: &Link, positions: &[f32]) -> Pose {
    match &link.hold {
        Hold::World | Hold::Path => above * link.pose,
        Hold::Free { .. } => Pose {
            position: Vec3::from_slice(positions),
            rotation: Quat::from_slice(&positions[3..]).normalize(),
        },
        Hold::Joint { joint, .. } => {
            let moved = match joint.kind {
                JointKind::Hinge { axis } => {
                    Pose::turned(Quat::from_axis_angle(axis.normalize(), positions[0]))
                }
                JointKind::Slide { axis } => Pose::at(axis.normalize() * positions[0]),
                JointKind::Ball => Pose::turned(Quat::from_slice(positions).normalize()),
                JointKind::Fixed | JointKind::Free => Pose::IDENTITY,
            };
            above * joint.to_frame * moved * joint.frame.inverse()
        }
    }
}

fn body(link: &Link) -> Body {
    let kind = match link.hold {
        Hold::World => BodyKind::Fixed,
        Hold::Path => BodyKind::Kinematic,
        Hold::Free { .. } | Hold::Joint { .. } => BodyKind::Dynamic,
    };
    // A robot that stands still is still driven, so it does not fall asleep.
    Body { kind, mass: link.mass, gravity_scale: link.gravity_scale, can_sleep: false, ..Body::default() }
}

/// What holds a link, as components.
fn held(link: &Link, to: Option<EntityId>, own: &[f32], target: Option<MotorTarget>) -> Vec<Component> {
    let (name, joint) = match &link.hold {
        Hold::World | Hold::Path => return Vec::new(),
        Hold::Free { name } => (name, Joint::new(JointKind::Free)),
        Hold::Joint { name, joint } => (name, Joint { to, ..*joint }),
    };
    let mut state = JointState::default();
    state.position[..own.len()].copy_from_slice(own);
    let mut components = vec![joint.into(), state.into()];
    if joint.motor.is_some() {
        let here =
            MotorTarget { position: own.first().copied().unwrap_or_default(), ..MotorTarget::default() };
        components.push(target.unwrap_or(here).into());
    }
    let data = BTreeMap::from([("joint".to_owned(), Datum::Text(name.clone()))]);
    components.push(UserData(data).into());
    components
}

/// Shapes of an entity: the first becomes its own if it may, the others hang on it.
fn spawn_parts(
    parts: Vec<Part>,
    owner: EntityId,
    first_is_its_own: bool,
    owner_name: &str,
    options: &ImportOptions,
    builder: &mut Builder,
) {
    for (at, mut part) in parts.into_iter().enumerate() {
        if let Some(collider) = part.collider.as_mut().filter(|_| options.ignore_self_contacts) {
            collider.groups.memberships = SELF_GROUP;
            collider.groups.filter &= !SELF_GROUP;
        }
        let shown = part.collider.map(Component::from).into_iter().chain(part.mesh.map(Component::from));
        if at == 0 && first_is_its_own {
            let first = builder.rows[0].0.number();
            builder.rows[(owner.number() - first) as usize].1.extend(shown);
        } else {
            let name = part.name.unwrap_or_else(|| format!("{owner_name} {}", at + 1));
            let mut components = vec![Name(name).into(), Parent(owner).into(), Pose::IDENTITY.into()];
            components.extend(shown);
            builder.add(components);
        }
    }
}

/// What a robot's user data tells about where it came from.
fn told(file: &Path, notes: &[String]) -> BTreeMap<String, Datum> {
    let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let notes = notes.iter().enumerate();
    let notes = notes.map(|(at, note)| (format!("import.note.{:03}", at + 1), Datum::Text(note.clone())));
    notes.chain([("import.file".to_owned(), Datum::Text(file))]).collect()
}

fn name_of(components: &[Component], id: EntityId) -> String {
    let name = components.iter().find_map(|component| match component {
        Component::Name(name) => Some(format!("`{}`", name.0)),
        _ => None,
    });
    name.unwrap_or_else(|| id.to_string())
}
