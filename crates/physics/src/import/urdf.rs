//! URDF files: links and joints by name, each joint's frame where its child link is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use downbeat_world::{Collider, Joint, JointKind, Mesh, Pose, Shape, Surface};
use glam::{Quat, Vec3, Vec4};
use urdf_rs::{Geometry, JointType, Robot};

use super::plan::{Hold, Link, Part, Plan};
use super::xml::{Format, Survey, inside, read};
use super::{ImportError, ImportOptions, mass, mesh};

/// The colour of what has none, as ROS shows it.
const COLOUR: Vec4 = Vec4::new(0.6, 0.6, 0.62, 1.0);
/// How many folders up a package is looked for.
const PACKAGE_UP_MAX: usize = 4;

const FORMAT: Format = Format {
    known: &[
        ("robot", &["name", "version"]),
        ("link", &["name"]),
        ("inertial", &[]),
        ("origin", &["xyz", "rpy", "quat_xyzw"]),
        ("mass", &["value"]),
        ("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]),
        ("visual", &["name"]),
        ("collision", &["name"]),
        ("geometry", &[]),
        ("box", &["size"]),
        ("cylinder", &["radius", "length"]),
        ("capsule", &["radius", "length"]),
        ("sphere", &["radius"]),
        ("mesh", &["filename", "scale"]),
        ("material", &["name"]),
        ("color", &["rgba"]),
        ("joint", &["name", "type"]),
        ("parent", &["link"]),
        ("child", &["link"]),
        ("axis", &["xyz"]),
        ("limit", &["lower", "upper", "effort"]),
        ("dynamics", &["damping"]),
    ],
    idle: &[],
    include: None,
    refusal: |_| None,
};

/// Reads a file and plans its robot.
pub(super) fn plan(path: &Path, options: &ImportOptions) -> Result<Plan, ImportError> {
    let text = read(path)?;
    let mut survey = Survey::default();
    survey.look(path, &text, &FORMAT)?;
    let robot = urdf_rs::read_from_string(&text).map_err(|error| ImportError::wrong(path, error))?;
    let mut plan = Plan { name: named(&robot.name, "robot"), ..Plan::default() };
    survey.notes().for_each(|note| plan.notes.push(note));
    let mut reader = Reader { path, robot: &robot, options, plan };
    reader.links()?;
    Ok(reader.plan)
}

struct Reader<'a> {
    path: &'a Path,
    robot: &'a Robot,
    options: &'a ImportOptions,
    plan: Plan,
}

impl Reader<'_> {
    /// All links, parents first, children in the order of the file's joints.
    fn links(&mut self) -> Result<(), ImportError> {
        let robot = self.robot;
        let mut at = BTreeMap::new();
        for (index, link) in robot.links.iter().enumerate() {
            if at.insert(link.name.as_str(), index).is_some() {
                return Err(self.wrong(format!("there are two links `{}`", link.name)));
            }
        }
        let find = |name: &str, joint: &str| {
            let known = at.get(name).copied();
            known.ok_or_else(|| self.wrong(format!("joint `{joint}` names `{name}`, which is no link")))
        };
        let mut above: Vec<Option<usize>> = vec![None; robot.links.len()];
        let mut below = vec![Vec::new(); robot.links.len()];
        for (index, joint) in robot.joints.iter().enumerate() {
            let child = find(&joint.child.link, &joint.name)?;
            let parent = find(&joint.parent.link, &joint.name)?;
            if above[child].replace(index).is_some() {
                return Err(self.wrong(format!("link `{}` hangs on two joints", joint.child.link)));
            }
            below[parent].push((child, index));
        }
        let roots: Vec<_> = (0..robot.links.len()).filter(|link| above[*link].is_none()).collect();
        let [root] = roots[..] else {
            return Err(self.wrong(format!("it must have one root link, not {}", roots.len())));
        };
        let mut stack = vec![(root, None)];
        let mut places: Vec<Pose> = Vec::new();
        while let Some((link, joint)) = stack.pop() {
            let here = self.link(link, joint, &mut places)?;
            // The last in is the first out, so children go in backwards.
            stack.extend(below[link].iter().rev().map(|(child, joint)| (*child, Some((here, *joint)))));
        }
        if self.plan.links.len() < robot.links.len() {
            return Err(self.wrong("some links hang on one another in a circle"));
        }
        let drives = self.plan.links.iter().any(|link| matches!(link.hold, Hold::Joint { .. }));
        if drives && self.options.motor.is_none() {
            self.plan.notes.push("URDF names no actuators: joints move freely; set `motor` to drive them");
        }
        Ok(())
    }

    /// Plans one link. Returns its place in the plan.
    fn link(
        &mut self,
        index: usize,
        joint: Option<(usize, usize)>,
        places: &mut Vec<Pose>,
    ) -> Result<usize, ImportError> {
        let robot = self.robot;
        let source = &robot.links[index];
        let (parent, pose) = match joint {
            Some((parent, joint)) => (Some(parent), pose_of(&robot.joints[joint].origin)),
            None => (None, Pose::IDENTITY),
        };
        let robot_from_link = parent.map_or(Pose::IDENTITY, |parent| places[parent]) * pose;
        places.push(robot_from_link);
        let hold = match joint {
            Some((parent, joint)) => self.hold(parent, &robot.joints[joint], pose)?,
            None if self.options.fixed_base.unwrap_or(true) => Hold::World,
            None => Hold::Free { name: "base".to_owned() },
        };
        let mut link = Link::new(named(&source.name, "link"), parent, hold);
        link.pose = pose;
        if matches!(link.hold, Hold::Free { .. }) {
            (link.parent, link.pose) = (None, robot_from_link);
        }
        let inertial = &source.inertial;
        let tensor = &inertial.inertia;
        if inertial.mass.value > 0.0 {
            let tensor = [tensor.ixx, tensor.iyy, tensor.izz, tensor.ixy, tensor.ixz, tensor.iyz];
            link.mass = Some(mass::from_tensor(inertial.mass.value, pose_of(&inertial.origin), tensor));
        } else if inertial.mass.value < 0.0 {
            return Err(self.wrong(format!("link `{}` has a negative mass", source.name)));
        } else if link.moves() {
            self.plan.notes.push(format!("link `{}` has no mass; it is given a gram", source.name));
            link.mass = Some(mass::least());
        }
        for at in 0..source.collision.len().max(source.visual.len()) {
            let collider = source.collision.get(at).map(|collision| self.collider(collision)).transpose()?;
            let mesh = source.visual.get(at).map(|visual| self.mesh(visual)).transpose()?;
            let name = source.collision.get(at).and_then(|collision| collision.name.clone());
            let (collider, mesh) = (collider.flatten(), mesh.flatten());
            if collider.is_some() || mesh.is_some() {
                link.parts.push(Part { name: name.filter(|name| !name.is_empty()), collider, mesh });
            }
        }
        self.plan.links.push(link);
        Ok(self.plan.links.len() - 1)
    }

    fn hold(&self, parent: usize, joint: &urdf_rs::Joint, origin: Pose) -> Result<Hold, ImportError> {
        let axis = vector(&joint.axis.xyz);
        let kind = match joint.joint_type {
            JointType::Revolute | JointType::Continuous => JointKind::Hinge { axis },
            JointType::Prismatic => JointKind::Slide { axis },
            JointType::Spherical => JointKind::Ball,
            JointType::Floating => return Ok(Hold::Free { name: named(&joint.name, "joint") }),
            JointType::Fixed if !self.plan.links[parent].moves() => return Ok(Hold::World),
            JointType::Fixed => JointKind::Fixed,
            JointType::Planar => {
                return Err(self.wrong(format!(
                    "joint `{}` is planar, which is not supported; use two prismatic joints and a continuous one",
                    joint.name
                )));
            }
        };
        let one = matches!(kind, JointKind::Hinge { .. } | JointKind::Slide { .. });
        if one && axis.try_normalize().is_none() {
            return Err(self.wrong(format!("joint `{}` has an axis without a direction", joint.name)));
        }
        let limited = matches!(joint.joint_type, JointType::Revolute | JointType::Prismatic);
        let limits = limited.then_some([joint.limit.lower as f32, joint.limit.upper as f32]);
        let motor = self.options.motor.filter(|_| one).map(|mut motor| {
            if joint.limit.effort > 0.0 {
                motor.effort_max = motor.effort_max.min(joint.limit.effort as f32);
            }
            motor
        });
        let damping = joint.dynamics.as_ref().map_or(0.0, |dynamics| dynamics.damping as f32);
        let joint_component = Joint { to_frame: origin, limits, motor, damping, ..Joint::new(kind) };
        Ok(Hold::Joint { name: named(&joint.name, "joint"), joint: joint_component })
    }

    fn collider(&mut self, collision: &urdf_rs::Collision) -> Result<Option<Collider>, ImportError> {
        let shape = match &collision.geometry {
            Geometry::Mesh { filename, scale } => {
                let scale = scale.as_ref().map_or(Vec3::ONE, vector);
                let hull = mesh::hull(&self.mesh_file(filename)?, scale)?;
                self.plan.notes.push(match hull {
                    Some(_) => format!("mesh `{filename}` collides as its convex hull"),
                    None => format!("mesh `{filename}` is neither STL nor OBJ; nothing collides with it"),
                });
                hull
            }
            Geometry::Box { size } => Some(Shape::Box { half: vector(size) / 2.0 }),
            Geometry::Cylinder { radius, length } => {
                Some(Shape::Cylinder { half_length: *length as f32 / 2.0, radius: *radius as f32 })
            }
            Geometry::Capsule { radius, length } => {
                Some(Shape::Capsule { half_length: *length as f32 / 2.0, radius: *radius as f32 })
            }
            Geometry::Sphere { radius } => Some(Shape::Sphere { radius: *radius as f32 }),
        };
        let offset = pose_of(&collision.origin);
        Ok(shape.map(|shape| Collider { offset, ..Collider::new(shape) }))
    }

    fn mesh(&mut self, visual: &urdf_rs::Visual) -> Result<Option<Mesh>, ImportError> {
        let surface = match &visual.geometry {
            Geometry::Mesh { filename, scale } => {
                let scale = scale.as_ref().map_or(Vec3::ONE, vector);
                let surface = mesh::surface(&self.mesh_file(filename)?, scale);
                if surface.is_none() {
                    self.plan.notes.push(format!(
                        "mesh `{filename}` is not drawn: it is missing, mirrored, or not glTF, OBJ or STL"
                    ));
                }
                surface
            }
            // What is seen has the same shapes as what collides.
            _ => {
                let geometry = visual.geometry.clone();
                let same = urdf_rs::Collision { geometry, ..urdf_rs::Collision::default() };
                self.collider(&same)?.map(|collider| Surface::Shape(collider.shape))
            }
        };
        let offset = pose_of(&visual.origin);
        Ok(surface.map(|surface| Mesh { offset, ..Mesh::new(surface, self.colour(visual)) }))
    }

    /// A colour of its own, or that of the robot's material of the same name.
    fn colour(&self, visual: &urdf_rs::Visual) -> Vec4 {
        let own = visual.material.as_ref();
        let shared = own.and_then(|own| self.robot.materials.iter().find(|there| there.name == own.name));
        let colour = own.and_then(|own| own.color.as_ref()).or_else(|| shared?.color.as_ref());
        colour.map_or(COLOUR, |colour| Vec4::from_array(colour.rgba.map(|part| part as f32)))
    }

    /// Where a mesh is: in the folder of the file, or in the package of that name that the file is in.
    fn mesh_file(&self, named: &str) -> Result<PathBuf, ImportError> {
        let folder = self.path.parent().unwrap_or_else(|| Path::new(""));
        let Some(rest) = named.strip_prefix("package://") else {
            return inside(folder, named).map_err(|what| self.wrong(what));
        };
        let (package, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let above = folder.ancestors().take(PACKAGE_UP_MAX);
        let root = above.into_iter().find(|folder| folder.file_name().is_some_and(|name| name == package));
        let root = root.map_or_else(|| inside(folder, package), |root| Ok(root.to_owned()));
        root.and_then(|root| inside(&root, rest)).map_err(|what| self.wrong(what))
    }

    fn wrong(&self, what: impl std::fmt::Display) -> ImportError {
        ImportError::wrong(self.path, what)
    }
}

fn named(name: &str, otherwise: &str) -> String {
    if name.is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

fn vector(numbers: &urdf_rs::Vec3) -> Vec3 {
    Vec3::from_array(numbers.map(|number| number as f32))
}

/// Roll, pitch and yaw are turns about fixed axes, in this order.
fn pose_of(pose: &urdf_rs::Pose) -> Pose {
    let [roll, pitch, yaw] = pose.rpy.map(|angle| angle as f32);
    let rotation = Quat::from_rotation_z(yaw) * Quat::from_rotation_y(pitch) * Quat::from_rotation_x(roll);
    Pose { position: vector(&pose.xyz), rotation }
}
