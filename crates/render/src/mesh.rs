//! Triangles: the built-in shapes at unit size, and meshes from outside.

use glam::Vec3;

/// A corner of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
#[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
pub struct Vertex {
    /// Metres, in the mesh's frame.
    pub position: [f32; 3],
    /// A unit vector.
    pub normal: [f32; 3],
    /// Which way along z a capsule's length moves it: -1, 0 or 1.
    pub stretch: f32,
}

/// Vertices and the triangles between them, counter-clockwise seen from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// The corners.
    pub vertices: Vec<Vertex>,
    /// Three to a triangle.
    pub indices: Vec<u32>,
}

/// Corners around a circle.
const AROUND: u32 = 48;
/// Rings from pole to equator.
const RINGS: u32 = 12;

impl Mesh {
    /// From -1 to 1 on every axis.
    pub fn cube() -> Self {
        let mut mesh = Self::default();
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            for side in [axis, -axis] {
                let right = side.any_orthonormal_vector();
                let up = side.cross(right);
                mesh.quad(side, right, up);
            }
        }
        mesh
    }

    /// From -1 to 1 in x and y, facing +z.
    pub fn plane() -> Self {
        let mut mesh = Self::default();
        mesh.quad(Vec3::Z, Vec3::X, Vec3::Y);
        mesh.vertices.iter_mut().for_each(|vertex| vertex.position[2] = 0.0);
        mesh
    }

    /// A sphere of radius 1 in two halves, which a capsule pulls apart.
    pub fn capsule() -> Self {
        let mut mesh = Self::default();
        // From the upper pole down; the equator is there twice, once for each half.
        for ring in 0..=2 * RINGS + 1 {
            let (step, stretch) = if ring <= RINGS { (ring, 1.0) } else { (ring - 1, -1.0) };
            let polar = std::f32::consts::FRAC_PI_2 * step as f32 / RINGS as f32;
            for around in 0..=AROUND {
                let (sin, cos) = turn(around);
                let normal = Vec3::new(libm::sinf(polar) * cos, libm::sinf(polar) * sin, libm::cosf(polar));
                mesh.vertices.push(Vertex { position: normal.into(), normal: normal.into(), stretch });
            }
        }
        mesh.strips(0, 2 * RINGS + 1);
        mesh
    }

    /// Radius 1, from -1 to 1 in z.
    pub fn cylinder() -> Self {
        let mut mesh = Self::default();
        for height in [1.0, -1.0] {
            for around in 0..=AROUND {
                let (sin, cos) = turn(around);
                mesh.corner(Vec3::new(cos, sin, height), Vec3::new(cos, sin, 0.0));
            }
        }
        mesh.strips(0, 1);
        for side in [Vec3::Z, -Vec3::Z] {
            let centre = mesh.vertices.len() as u32;
            mesh.corner(side, side);
            for around in 0..=AROUND {
                let (sin, cos) = turn(around);
                mesh.corner(Vec3::new(cos, sin * side.z, side.z), side);
            }
            for around in 1..=AROUND {
                mesh.indices.extend([centre, centre + around, centre + around + 1]);
            }
        }
        mesh
    }

    fn corner(&mut self, position: Vec3, normal: Vec3) {
        self.vertices.push(Vertex { position: position.into(), normal: normal.into(), stretch: 0.0 });
    }

    /// A square at distance 1 along `normal`.
    fn quad(&mut self, normal: Vec3, right: Vec3, up: Vec3) {
        let first = self.vertices.len() as u32;
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            self.corner(normal + right * x + up * y, normal);
        }
        self.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }

    /// Triangles between rings of corners that follow each other, the upper ring first.
    fn strips(&mut self, first: u32, strips: u32) {
        let row = AROUND + 1;
        for strip in 0..strips {
            for around in 0..AROUND {
                let upper = first + strip * row + around;
                let lower = upper + row;
                self.indices.extend([upper, lower, upper + 1, upper + 1, lower, lower + 1]);
            }
        }
    }
}

/// Sine and cosine of so many steps around the circle.
fn turn(step: u32) -> (f32, f32) {
    libm::sincosf(std::f32::consts::TAU * step as f32 / AROUND as f32)
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn every_triangle_faces_outwards() {
        for (name, mesh) in [
            ("cube", Mesh::cube()),
            ("plane", Mesh::plane()),
            ("capsule", Mesh::capsule()),
            ("cylinder", Mesh::cylinder()),
        ] {
            assert!(mesh.indices.len().is_multiple_of(3));
            for triangle in mesh.indices.chunks(3) {
                let corners = [0, 1, 2].map(|at| mesh.vertices[triangle[at] as usize]);
                // Pulled apart a little, so that the capsule's belt is a surface.
                let at = |v: Vertex| Vec3::from(v.position) + Vec3::Z * v.stretch;
                let facing = (at(corners[1]) - at(corners[0])).cross(at(corners[2]) - at(corners[0]));
                let normal: Vec3 = corners.iter().map(|corner| Vec3::from(corner.normal)).sum();
                assert!(facing.dot(normal) >= -1e-6, "{name}: {triangle:?}");
                assert!(corners.iter().all(|c| (Vec3::from(c.normal).length() - 1.0).abs() < 1e-5), "{name}");
            }
        }
    }
}
