//! Geoms: what a body collides with, what is seen of it, and what it weighs.

use std::path::Path;

use downbeat_world::{Collider, Groups, MassProperties, Mesh, Pose, Shape, Surface};
use glam::{Quat, Vec3, Vec4};
use mjcf_rs::body::{Body, Geom, GeomType};

use super::super::mass::{self, Weight};
use super::super::plan::{Link, Part};
use super::super::xml::inside;
use super::super::{ImportError, mesh};
use super::{Reader, pose_of, vector};

/// Geoms of this group and above are not drawn unless asked for: by custom, they stand in for what is.
const HIDDEN_GROUP: i32 = 3;
/// MuJoCo's own colour of geoms.
const COLOUR: Vec4 = Vec4::new(0.5, 0.5, 0.5, 1.0);
/// How many points stand for an ellipsoid: rings from pole to pole, and points on each.
const RINGS: u32 = 9;
const RING: u32 = 16;

impl Reader<'_> {
    /// Geoms of the world: unmoving colliders.
    pub(super) fn surroundings(&mut self) -> Result<(), ImportError> {
        let world = &self.model.bodies[0].body;
        for geom in &world.geoms {
            let part = self.part(geom)?;
            self.plan.surroundings.extend(part);
        }
        for site in &world.sites {
            let name = site.name.as_deref().unwrap_or("without a name");
            self.plan.notes.push(format!("site {name} of the world is not supported"));
        }
        Ok(())
    }

    /// Geoms of a body.
    pub(super) fn geoms(&mut self, body: &Body, link: &mut Link) -> Result<(), ImportError> {
        for geom in &body.geoms {
            if geom.type_ == GeomType::Plane && link.moves() {
                let what = format!("body `{}` moves, so it cannot have a plane; use a box", link.name);
                return Err(self.wrong(what));
            }
            link.parts.extend(self.part(geom)?);
        }
        Ok(())
    }

    /// What a body's geoms weigh together.
    pub(super) fn geom_mass(&self, body: &Body) -> Result<Option<MassProperties>, String> {
        let mut shapes = Vec::new();
        for geom in body.geoms.iter().filter(|geom| geom.type_ != GeomType::Plane) {
            let weight = match (geom.mass, geom.density) {
                (Some(mass), _) => Weight::Mass(mass as f32),
                (None, density) => {
                    Weight::Density(density.unwrap_or(self.model.compiler.inertia_density) as f32)
                }
            };
            if matches!(weight, Weight::Mass(number) | Weight::Density(number) if number <= 0.0) {
                continue;
            }
            if let Some((shape, pose)) = self.shape(geom).map_err(|error| error.to_string())? {
                shape.check()?;
                shapes.push((shape, pose, weight));
            }
        }
        mass::from_shapes(shapes.iter().map(|(shape, pose, weight)| (shape, *pose, *weight)))
    }

    fn part(&mut self, geom: &Geom) -> Result<Option<Part>, ImportError> {
        let name = geom.name.clone().filter(|name| !name.is_empty());
        let shown = name.clone().unwrap_or_else(|| "without a name".to_owned());
        let Some((shape, offset)) = self.shape(geom)? else {
            let kind = format!("{:?}", geom.type_).to_ascii_lowercase();
            self.plan.notes.push(format!("geom {shown} is a {kind} that is not supported; it is left out"));
            return Ok(None);
        };
        match geom.type_ {
            GeomType::Ellipsoid => {
                self.plan.notes.push(format!("geom {shown} is an ellipsoid; a hull of points stands for it"));
            }
            GeomType::Mesh => self.plan.notes.push(format!("geom {shown} is a mesh; its hull stands for it")),
            _ => {}
        }
        let collides = geom.contype != 0 || geom.conaffinity != 0;
        if collides && geom.contype != geom.conaffinity {
            self.plan.notes.push(format!(
                "geom {shown} touches what it is let through by and lets through; MuJoCo needs only one of both"
            ));
        }
        if collides && geom.condim != 3 {
            self.plan
                .notes
                .push(format!("geom {shown}: `condim` {} is not supported; contacts slide", geom.condim));
        }
        let mesh =
            (!collides || geom.group < HIDDEN_GROUP).then(|| self.drawn(geom, &shape, offset)).transpose()?;
        let collider = collides.then(|| Collider {
            offset,
            friction: geom.friction[0] as f32,
            groups: Groups { memberships: geom.contype, filter: geom.conaffinity },
            ..Collider::new(shape)
        });
        Ok(Some(Part { name, collider, mesh }))
    }

    fn drawn(&self, geom: &Geom, shape: &Shape, offset: Pose) -> Result<Mesh, ImportError> {
        let material = geom.material.as_deref().and_then(|name| self.model.assets.material(name));
        let colour = geom.rgba.or_else(|| material?.rgba);
        let colour = colour.map_or(COLOUR, |colour| Vec4::from_array(colour.map(|part| part as f32)));
        let asset = geom.mesh.as_deref().filter(|_| geom.type_ == GeomType::Mesh);
        let file = asset.and_then(|name| self.model.assets.mesh(name)).filter(|mesh| mesh.file.is_some());
        let surface = match file {
            Some(asset) => mesh::surface(&self.mesh_file(asset)?, vector(asset.scale)),
            None => None,
        };
        let mut mesh = Mesh::new(surface.unwrap_or_else(|| Surface::Shape(shape.clone())), colour);
        // MuJoCo writes -1 for a finish that nobody has set.
        let finish = material.map(|material| (material.metallic, material.roughness));
        if let Some((metallic, roughness)) =
            finish.filter(|(metallic, roughness)| metallic.min(*roughness) >= 0.0)
        {
            (mesh.metallic, mesh.roughness) = (metallic as f32, roughness as f32);
        }
        Ok(Mesh { offset, ..mesh })
    }

    /// A geom's shape and where it is on its body; `None` for what is not supported.
    fn shape(&self, geom: &Geom) -> Result<Option<(Shape, Pose)>, ImportError> {
        let [a, b, c] = geom.size.map(|size| size as f32);
        let (along, half_length) = match geom.fromto {
            Some([x, y, z, to_x, to_y, to_z]) => {
                let (from, to) = (vector([x, y, z]), vector([to_x, to_y, to_z]));
                let way = (to - from).try_normalize().unwrap_or(Vec3::Z);
                let rotation = Quat::from_rotation_arc(Vec3::Z, way);
                (Pose { position: (from + to) / 2.0, rotation }, (to - from).length() / 2.0)
            }
            None => (Pose::IDENTITY, b),
        };
        let third = if geom.fromto.is_some() { half_length } else { c };
        let shape = match geom.type_ {
            GeomType::Plane => Shape::HalfSpace,
            GeomType::Sphere => Shape::Sphere { radius: a },
            GeomType::Capsule => Shape::Capsule { half_length, radius: a },
            GeomType::Cylinder => Shape::Cylinder { half_length, radius: a },
            // Between two points, a box and an ellipsoid are as thick as they are wide.
            GeomType::Box if geom.fromto.is_some() => Shape::Box { half: Vec3::new(a, a, third) },
            GeomType::Box => Shape::Box { half: Vec3::new(a, b, c) },
            GeomType::Ellipsoid if geom.fromto.is_some() => ellipsoid(Vec3::new(a, a, third)),
            GeomType::Ellipsoid => ellipsoid(Vec3::new(a, b, c)),
            GeomType::Mesh => match self.hull(geom)? {
                Some(hull) => hull,
                None => return Ok(None),
            },
            GeomType::Hfield | GeomType::Sdf => return Ok(None),
        };
        Ok(Some((shape, pose_of(geom.pose) * along)))
    }

    fn hull(&self, geom: &Geom) -> Result<Option<Shape>, ImportError> {
        let name = geom.mesh.as_deref().unwrap_or_default();
        let Some(asset) = self.model.assets.mesh(name) else {
            return Err(self.wrong(format!("a geom names the mesh `{name}`, which no <asset> has")));
        };
        let scale = vector(asset.scale);
        if let Some(numbers) = &asset.inline_vertices {
            let points = numbers.chunks_exact(3).map(|point| vector([point[0], point[1], point[2]]) * scale);
            return Ok(Some(Shape::Hull { points: points.collect() }));
        }
        mesh::hull(&self.mesh_file(asset)?, scale)
    }

    fn mesh_file(&self, asset: &mjcf_rs::assets::Mesh) -> Result<std::path::PathBuf, ImportError> {
        let compiler = &self.model.compiler;
        let mut named = asset.file.as_deref().unwrap_or_default();
        if compiler.strip_path {
            named = Path::new(named).file_name().and_then(|name| name.to_str()).unwrap_or(named);
        }
        let folder = self.path.parent().unwrap_or_else(|| Path::new(""));
        let folder = match compiler.mesh_dir.as_deref().or(compiler.asset_dir.as_deref()) {
            Some(inner) if !inner.is_empty() => inside(folder, inner),
            _ => Ok(folder.to_owned()),
        };
        folder.and_then(|folder| inside(&folder, named)).map_err(|what| self.wrong(what))
    }
}

/// Points on an ellipsoid.
fn ellipsoid(half: Vec3) -> Shape {
    let turn = |part: u32, of: u32| std::f32::consts::PI * part as f32 / of as f32;
    let rings = (1..RINGS).flat_map(|ring| {
        let (sin, cos) = libm::sincosf(turn(ring, RINGS));
        (0..RING).map(move |point| {
            let (y, x) = libm::sincosf(2.0 * turn(point, RING));
            Vec3::new(sin * x, sin * y, cos)
        })
    });
    let points = rings.chain([Vec3::Z, Vec3::NEG_Z]).map(|point| point * half).collect();
    Shape::Hull { points }
}
