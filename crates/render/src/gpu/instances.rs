//! Instances as the GPU wants them: plain numbers, those of one mesh side by side.

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Vec3};

use crate::packet::{FramePacket, Instance, Line, Shape};

/// The built-in meshes come first, in this order.
pub(super) const CUBE: usize = 0;
pub(super) const CAPSULE: usize = 1;
pub(super) const CYLINDER: usize = 2;
pub(super) const PLANE: usize = 3;
pub(super) const BUILT_IN: usize = 4;

/// One instance in GPU memory.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GpuInstance {
    rows: [[f32; 4]; 3],
    colour: [f32; 3],
    stretch: f32,
    surface: [f32; 2],
    object: u32,
    padding: u32,
}

/// One line in GPU memory.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GpuLine {
    from: [f32; 3],
    width: f32,
    to: [f32; 4],
    colour: [f32; 4],
}

impl From<&Line> for GpuLine {
    fn from(line: &Line) -> Self {
        Self {
            from: line.from.into(),
            width: line.width,
            to: line.to.extend(1.0).into(),
            colour: line.colour.extend(1.0).into(),
        }
    }
}

/// A packet's instances, sorted by mesh; its memory is kept from frame to frame.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) instances: Vec<GpuInstance>,
    /// By mesh: where its instances end. They begin where the mesh before ends.
    pub(super) ends: Vec<u32>,
}

impl Sorted {
    /// Counts per mesh, then puts each where it belongs: two passes, no comparison.
    pub(super) fn fill(&mut self, packet: &FramePacket, meshes: usize) {
        self.ends.clear();
        self.ends.resize(meshes, 0);
        let known = |instance: &&Instance| mesh_of(instance) < meshes;
        for instance in packet.instances.iter().filter(known) {
            self.ends[mesh_of(instance)] += 1;
        }
        let mut total = 0;
        for end in &mut self.ends {
            total += std::mem::replace(end, total);
        }
        self.instances.resize(total as usize, GpuInstance::zeroed());
        for instance in packet.instances.iter().filter(known) {
            let next = &mut self.ends[mesh_of(instance)];
            self.instances[*next as usize] = gpu_instance(instance);
            *next += 1;
        }
    }

    /// The instances of each mesh that has some.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, std::ops::Range<u32>)> + '_ {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins
            .zip(&self.ends)
            .enumerate()
            .map(|(mesh, (begin, end))| (mesh, begin..*end))
            .filter(|(_, run)| !run.is_empty())
    }
}

fn mesh_of(instance: &Instance) -> usize {
    match instance.shape {
        Shape::Box { .. } => CUBE,
        Shape::Sphere { .. } | Shape::Capsule { .. } => CAPSULE,
        Shape::Cylinder { .. } => CYLINDER,
        Shape::Plane { .. } => PLANE,
        Shape::Mesh { mesh, .. } => BUILT_IN + mesh.0 as usize,
    }
}

fn gpu_instance(instance: &Instance) -> GpuInstance {
    let (scale, stretch) = match instance.shape {
        Shape::Box { half } => (half, 0.0),
        Shape::Sphere { radius } => (Vec3::splat(radius), 0.0),
        Shape::Capsule { radius, half_length } => (Vec3::splat(radius), half_length),
        Shape::Cylinder { radius, half_length } => (Vec3::new(radius, radius, half_length), 0.0),
        Shape::Plane { half } => (half.extend(1.0), 0.0),
        Shape::Mesh { scale, .. } => (scale, 0.0),
    };
    let pose = &instance.world_from_object;
    let turned = Mat3::from_quat(pose.rotation);
    let (x, y, z, at) =
        (turned.x_axis * scale.x, turned.y_axis * scale.y, turned.z_axis * scale.z, pose.translation);
    GpuInstance {
        rows: [[x.x, y.x, z.x, at.x], [x.y, y.y, z.y, at.y], [x.z, y.z, z.z, at.z]],
        colour: instance.material.base_colour.into(),
        stretch,
        surface: [instance.material.metallic, instance.material.roughness],
        object: instance.object,
        padding: 0,
    }
}
