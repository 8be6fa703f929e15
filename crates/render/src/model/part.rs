//! A part as its file has it, and the mesh that comes of it. The checks that all formats share are here.

use glam::{DVec3, Vec3};

use crate::mesh::{Mesh, Vertex};
use crate::packet::Material;

#[derive(Debug, Default)]
pub(super) struct RawPart {
    pub(super) name: String,
    pub(super) material: Material,
    pub(super) positions: Vec<Vec3>,
    /// As many as positions. Any other number counts as none.
    pub(super) normals: Vec<Vec3>,
    /// Three to a triangle.
    pub(super) indices: Vec<u32>,
}

impl RawPart {
    /// The mesh, or what is wrong.
    pub(super) fn into_mesh(self) -> Result<Mesh, String> {
        let name = &self.name;
        if let Some(at) = self.positions.iter().position(|position| !position.is_finite()) {
            return Err(format!("vertex {at} of `{name}` is at {}, which is no place", self.positions[at]));
        }
        if let Some(at) = self.normals.iter().position(|normal| !normal.is_finite()) {
            return Err(format!("normal {at} of `{name}` is {}, which is no direction", self.normals[at]));
        }
        let count = self.positions.len();
        if let Some(index) = self.indices.iter().find(|index| **index as usize >= count) {
            return Err(format!("a triangle of `{name}` has corner {index}, but there are {count} vertices"));
        }
        if !self.indices.len().is_multiple_of(3) {
            return Err(format!("the last triangle of `{name}` has corners missing"));
        }
        let normals: Vec<Vec3> = self.normals.iter().map(|normal| direction(normal.as_dvec3())).collect();
        let complete = normals.len() == count && normals.iter().all(|normal| *normal != Vec3::ZERO);
        Ok(if complete {
            smooth(self.positions, normals, self.indices)
        } else {
            flat(&self.positions, &self.indices)
        })
    }
}

fn smooth(positions: Vec<Vec3>, normals: Vec<Vec3>, indices: Vec<u32>) -> Mesh {
    let vertices =
        positions.into_iter().zip(normals).map(|(position, normal)| corner(position, normal)).collect();
    Mesh { vertices, indices }
}

/// Every triangle with corners of its own, which face where it faces.
fn flat(positions: &[Vec3], indices: &[u32]) -> Mesh {
    let mut mesh = Mesh::default();
    for triangle in indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|at| positions[triangle[at] as usize]);
        let [from, right, left] = [a, b, c].map(Vec3::as_dvec3);
        let normal = direction((right - from).cross(left - from));
        if normal != Vec3::ZERO {
            let first = mesh.vertices.len() as u32;
            mesh.vertices.extend([a, b, c].map(|position| corner(position, normal)));
            mesh.indices.extend([first, first + 1, first + 2]);
        }
    }
    mesh
}

fn corner(position: Vec3, normal: Vec3) -> Vertex {
    Vertex { position: position.into(), normal: normal.into(), stretch: 0.0 }
}

/// The unit vector along it, or zero if it has no length. In double precision, in which no product of what a file can
/// say overflows or vanishes.
fn direction(along: DVec3) -> Vec3 {
    along.normalize_or_zero().as_vec3()
}
