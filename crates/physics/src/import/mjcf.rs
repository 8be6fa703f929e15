//! MJCF files: nested bodies, each with the joints that let it move in its parent.
//!
//! Two geoms slide with the mean of their frictions; MuJoCo takes the larger.

mod actuator;
mod format;
mod geom;

use std::collections::BTreeMap;
use std::path::Path;

use downbeat_world::{Joint, JointKind, MassProperties, Pose};
use glam::{Quat, Vec3};
use mjcf_rs::body::{Body, InertiaSpec, JointType};
use mjcf_rs::compiler::{InertiaFromGeom, SimOption};
use mjcf_rs::{BodyId, Model};

use super::plan::{Hold, Keyframe, Link, Plan};
use super::xml::{Survey, read};
use super::{ImportError, ImportOptions, mass};
use format::FORMAT;

/// Reads a file and plans its robot.
pub(super) fn plan(path: &Path, options: &ImportOptions) -> Result<Plan, ImportError> {
    let text = read(path)?;
    let mut survey = Survey::default();
    survey.look(path, &text, &FORMAT)?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let model = Model::from_str(&text, folder).map_err(|error| ImportError::wrong(path, error))?;
    let name = model.name.clone().filter(|name| !name.is_empty());
    let mut plan = Plan { name: name.unwrap_or_else(|| "robot".to_owned()), ..Plan::default() };
    survey.notes().for_each(|note| plan.notes.push(note));
    let links = vec![None; model.bodies.len()];
    let mut reader = Reader { path, model: &model, options, plan, links, coordinates: Vec::new() };
    reader.note_options();
    reader.surroundings()?;
    for (id, _) in model.bodies_iter() {
        reader.body(id)?;
    }
    let driven = reader.actuators();
    reader.keyframes(&driven)?;
    Ok(reader.plan)
}

struct Reader<'a> {
    path: &'a Path,
    model: &'a Model,
    options: &'a ImportOptions,
    plan: Plan,
    /// The link of each body.
    links: Vec<Option<usize>>,
    /// The model's coordinates, in the order of its `qpos`.
    coordinates: Vec<Coordinate>,
}

/// What the positions of a joint in `qpos` are here.
enum Coordinate {
    /// Those of a free base that is fixed here.
    Pinned,
    /// None: a free base that the model does not have.
    Added { pose: Pose },
    /// A place and a quaternion.
    Free,
    /// A quaternion.
    Ball,
    /// One number, which is `zero` where ours is 0, of this link's joint.
    One { zero: f64, link: usize },
}

impl Reader<'_> {
    fn note_options(&mut self) {
        let option = &self.model.option;
        let usual = SimOption::default();
        if option.gravity.map(f64::to_bits) != usual.gravity.map(f64::to_bits) {
            let [x, y, z] = option.gravity;
            let note = format!("gravity {x} {y} {z} is not set; it is a setting of the scene's physics");
            self.plan.notes.push(note);
        }
        // What the file says of time steps is for whoever chooses the rate of the physics.
        if option.timestep.to_bits() != usual.timestep.to_bits() {
            self.plan.notes.push(format!(
                "time step {} s is not set; it is the rate of the physics' runner",
                option.timestep
            ));
        }
    }

    /// Plans the links of one body: one for each of its joints, the last of which is the body itself.
    fn body(&mut self, id: BodyId) -> Result<(), ImportError> {
        let model = self.model;
        let entry = &model.bodies[id];
        let body = &entry.body;
        let name = body.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("body {id}"));
        let mut parent = entry.parent.and_then(|parent| self.links[parent]);
        let free = body.joints.iter().any(|joint| joint.type_ == JointType::Free);
        if free && (body.joints.len() > 1 || entry.parent != Some(0)) {
            let what = format!("body `{name}`: a free joint must be the only one, on a body of the world");
            return Err(self.wrong(what));
        }
        let mut parent_from_link = pose_of(body.pose);
        let (last, between) = match body.joints.split_last() {
            Some((last, between)) => (Some(last), between),
            None => (None, &[][..]),
        };
        for joint in between {
            self.plan
                .notes
                .push(format!("body `{name}` has several joints; links of a gram stand between them"));
            let hold = self.joint(joint, parent_from_link)?;
            let mut link = Link::new(format!("{name} {}", self.plan.links.len()), parent, hold);
            link.pose = parent_from_link;
            link.mass = Some(mass::least());
            self.plan.links.push(link);
            parent = Some(self.plan.links.len() - 1);
            parent_from_link = Pose::IDENTITY;
        }
        let hold = match last {
            Some(joint) => self.joint(joint, parent_from_link)?,
            None => self.weld(body, parent, parent_from_link),
        };
        let mut link = Link::new(name, parent, hold);
        link.pose = parent_from_link;
        link.gravity_scale = 1.0 - body.gravcomp as f32;
        self.geoms(body, &mut link)?;
        link.mass = self.mass(body, &link)?;
        let sites = body.sites.iter().enumerate();
        link.frames.extend(sites.map(|(at, site)| {
            let name = site.name.clone().filter(|name| !name.is_empty());
            (name.unwrap_or_else(|| format!("site {}", at + 1)), pose_of(site.pose))
        }));
        self.links[id] = Some(self.plan.links.len());
        self.plan.links.push(link);
        Ok(())
    }

    /// What holds a body without joints.
    fn weld(&mut self, body: &Body, parent: Option<usize>, parent_from_link: Pose) -> Hold {
        if body.mocap {
            return Hold::Path;
        }
        match parent {
            None if self.options.fixed_base == Some(false) => {
                self.coordinates.push(Coordinate::Added { pose: parent_from_link });
                Hold::Free { name: "base".to_owned() }
            }
            Some(parent) if self.plan.links[parent].moves() => {
                let joint = Joint { to_frame: parent_from_link, ..Joint::new(JointKind::Fixed) };
                Hold::Joint { name: "weld".to_owned(), joint }
            }
            _ => Hold::World,
        }
    }

    /// A joint of the link that is planned next.
    fn joint(&mut self, joint: &mjcf_rs::body::Joint, parent_from_link: Pose) -> Result<Hold, ImportError> {
        let link = self.plan.links.len();
        let name =
            joint.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("joint {link}"));
        let axis = vector(joint.axis);
        let one = matches!(joint.type_, JointType::Hinge | JointType::Slide);
        if one && axis.try_normalize().is_none() {
            return Err(self.wrong(format!("joint `{name}` has an axis without a direction")));
        }
        let (kind, coordinate) = match joint.type_ {
            JointType::Free if self.options.fixed_base == Some(true) => {
                self.coordinates.push(Coordinate::Pinned);
                return Ok(Hold::World);
            }
            JointType::Free => {
                self.coordinates.push(Coordinate::Free);
                return Ok(Hold::Free { name });
            }
            JointType::Ball => (JointKind::Ball, Coordinate::Ball),
            JointType::Hinge => (JointKind::Hinge { axis }, Coordinate::One { zero: joint.ref_, link }),
            JointType::Slide => (JointKind::Slide { axis }, Coordinate::One { zero: joint.ref_, link }),
        };
        self.coordinates.push(coordinate);
        let limited = joint.limited.resolve(self.model.compiler.autolimits, joint.range.is_some());
        let range = joint.range.filter(|_| limited);
        let limits = range.map(|[low, high]| match kind {
            // The parser turns degrees into radians for hinges only.
            JointKind::Ball => {
                let unit =
                    if self.model.compiler.angle_is_degree { std::f64::consts::PI / 180.0 } else { 1.0 };
                [(-high * unit) as f32, (high * unit) as f32]
            }
            _ => [(low - joint.ref_) as f32, (high - joint.ref_) as f32],
        });
        let anchor = Pose::at(vector(joint.pos));
        let joint = Joint {
            to_frame: parent_from_link * anchor,
            frame: anchor,
            limits,
            damping: joint.damping as f32,
            armature: joint.armature as f32,
            ..Joint::new(kind)
        };
        Ok(Hold::Joint { name, joint })
    }

    /// What a body weighs: as it says itself, or as its geoms do.
    fn mass(&mut self, body: &Body, link: &Link) -> Result<Option<MassProperties>, ImportError> {
        let from_geoms = self.model.compiler.inertia_from_geom == InertiaFromGeom::True;
        if let Some(inertial) = body.inertial.as_ref().filter(|_| !from_geoms) {
            let inertia = match inertial.inertia {
                InertiaSpec::Diagonal([x, y, z]) => [x, y, z, 0.0, 0.0, 0.0],
                InertiaSpec::Full(full) => full,
            };
            if inertial.mass > 0.0 {
                return Ok(Some(mass::from_tensor(inertial.mass, pose_of(inertial.pose), inertia)));
            }
        }
        let found = self.geom_mass(body).map_err(|what| self.wrong(format!("`{}`: {what}", link.name)))?;
        if found.is_none() && link.moves() {
            self.plan.notes.push(format!("body `{}` has no mass; it is given a gram", link.name));
            return Ok(Some(mass::least()));
        }
        Ok(found)
    }

    /// Keyframes, with the coordinates that are left of those in the file.
    fn keyframes(&mut self, driven: &[Option<actuator::Driven>]) -> Result<(), ImportError> {
        let model = self.model;
        for (at, key) in model.keyframes.iter().enumerate() {
            let name =
                key.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("key {}", at + 1));
            let positions = self.positions(&key.qpos);
            let positions = positions.map_err(|what| self.wrong(format!("keyframe `{name}`: {what}")))?;
            let targets = driven.iter().zip(&key.ctrl);
            let targets: BTreeMap<_, _> =
                targets.filter_map(|(driven, control)| Some(driven.as_ref()?.target(*control))).collect();
            self.plan.keyframes.insert(name, Keyframe { positions, targets });
        }
        Ok(())
    }

    /// Our positions for a `qpos`; without one, where the model is at rest.
    fn positions(&self, qpos: &[f64]) -> Result<Vec<f32>, String> {
        let wanted: usize = self.coordinates.iter().map(Coordinate::len).sum();
        if !qpos.is_empty() && qpos.len() != wanted {
            return Err(format!("`qpos` has {} numbers, but the joints have {wanted}", qpos.len()));
        }
        let Some(mut rest) = Some(qpos).filter(|qpos| !qpos.is_empty()) else {
            return Ok(self.plan.rest_positions());
        };
        let mut positions = Vec::new();
        for coordinate in &self.coordinates {
            let (own, after) = rest.split_at(coordinate.len());
            rest = after;
            let (place, turn) = own.split_at(if own.len() == 7 { 3 } else { 0 });
            match coordinate {
                Coordinate::Pinned => {}
                Coordinate::Added { pose } => {
                    positions.extend(pose.position.to_array());
                    positions.extend(pose.rotation.to_array());
                }
                Coordinate::Free | Coordinate::Ball => {
                    positions.extend(place.iter().map(|number| *number as f32));
                    positions.extend(quaternion(turn)?.to_array());
                }
                Coordinate::One { zero, .. } => positions.push((own[0] - zero) as f32),
            }
        }
        Ok(positions)
    }

    fn wrong(&self, what: impl std::fmt::Display) -> ImportError {
        ImportError::wrong(self.path, what)
    }
}

impl Coordinate {
    /// How many numbers of a `qpos` it is.
    const fn len(&self) -> usize {
        match self {
            Self::Added { .. } => 0,
            Self::Pinned | Self::Free => 7,
            Self::Ball => 4,
            Self::One { .. } => 1,
        }
    }
}

/// MJCF has the real part first.
fn quaternion(numbers: &[f64]) -> Result<Quat, String> {
    let [w, x, y, z] = numbers else { return Err("a quaternion has four numbers".to_owned()) };
    let quaternion = Quat::from_xyzw(*x as f32, *y as f32, *z as f32, *w as f32);
    let length = quaternion.length();
    if length.is_finite() && length > 1e-6 {
        Ok(quaternion.normalize())
    } else {
        Err("a quaternion has no direction".to_owned())
    }
}

fn vector(numbers: [f64; 3]) -> Vec3 {
    Vec3::from_array(numbers.map(|number| number as f32))
}

fn pose_of(pose: mjcf_rs::Pose) -> Pose {
    let rotation = Quat::from_array(pose.rotation.to_array().map(|number| number as f32));
    Pose { position: vector(pose.translation.to_array()), rotation: rotation.normalize() }
}
