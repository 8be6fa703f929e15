//! Masses and how they are spread, from tables of numbers and from shapes. The arithmetic is the solver's own.

use downbeat_world::{MassProperties, Pose, Shape};
use glam::{Mat3, Vec3};
use rapier3d::prelude::MassProperties as SolverMass;

use crate::rapier3d::convert;

/// What a link weighs that must move but of which the file says no mass.
const LEAST: f32 = 1e-3;
/// The smallest moment of inertia that a link is given, in kilogram square metres.
const LEAST_INERTIA: f32 = 1e-7;

/// How heavy a shape is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Weight {
    /// Kilograms.
    Mass(f32),
    /// Kilograms per cubic metre.
    Density(f32),
}

/// A mass centred at a frame's origin, with its inertia (xx, yy, zz, xy, xz, yz) about that frame's axes.
pub(super) fn from_tensor(mass: f64, body_from_center: Pose, inertia: [f64; 6]) -> MassProperties {
    let [xx, yy, zz, xy, xz, yz] = inertia.map(|number| number as f32);
    let tensor = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
    let about_center = SolverMass::with_inertia_matrix(Vec3::ZERO, mass as f32, tensor);
    out(&about_center.transform_by(&convert::pose_in(body_from_center)), mass as f32)
}

/// The mass of several shapes together; `None` when they weigh nothing.
pub(super) fn from_shapes<'a>(
    shapes: impl IntoIterator<Item = (&'a Shape, Pose, Weight)>,
) -> Result<Option<MassProperties>, String> {
    let mut sum: Option<SolverMass> = None;
    for (shape, body_from_shape, weight) in shapes {
        let (shape_from_solver, shape) = convert::shape(shape)?;
        let mass = match weight {
            Weight::Density(density) => shape.mass_properties(density),
            Weight::Mass(mass) => {
                let mut properties = shape.mass_properties(1.0);
                properties.set_mass(mass, true);
                properties
            }
        };
        let placed = mass.transform_by(&convert::pose_in(body_from_shape * shape_from_solver));
        sum = Some(sum.map_or(placed, |sum| sum + placed));
    }
    Ok(sum.filter(|sum| sum.mass() > 0.0).map(|sum| out(&sum, sum.mass())))
}

/// For links that the file gives no mass.
pub(super) fn least() -> MassProperties {
    MassProperties {
        mass: LEAST,
        center: Vec3::ZERO,
        inertia: Vec3::splat(LEAST * 1e-3),
        axes: glam::Quat::IDENTITY,
    }
}

fn out(properties: &SolverMass, mass: f32) -> MassProperties {
    MassProperties {
        mass,
        center: properties.local_com,
        inertia: properties.principal_inertia().max(Vec3::splat(LEAST_INERTIA)),
        axes: properties.principal_inertia_local_frame.normalize(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_weigh_and_turn_like_the_whole() {
        let half = Shape::Box { half: Vec3::new(0.5, 1.0, 1.0) };
        let halves = [-0.5, 0.5].map(|x| (&half, Pose::at(Vec3::X * x), Weight::Mass(3.0)));
        let sum = from_shapes(halves).unwrap().unwrap();
        // A cube of side 2 and mass 6: m/12 · (2² + 2²) = 4 about every axis.
        assert!((sum.mass - 6.0).abs() < 1e-5, "{sum:?}");
        assert!(sum.center.length() < 1e-5, "{sum:?}");
        assert!((sum.inertia - Vec3::splat(4.0)).abs().max_element() < 1e-4, "{sum:?}");
    }

    #[test]
    fn a_tensor_is_about_its_own_frame() {
        let turned = Pose { position: Vec3::Z, rotation: glam::Quat::from_rotation_z(0.3) };
        let mass = from_tensor(2.0, turned, [1.0, 2.0, 3.0, 0.1, 0.0, 0.0]);
        assert!((mass.center - Vec3::Z).length() < 1e-6, "{mass:?}");
        // The trace does not depend on the axes.
        assert!((mass.inertia.element_sum() - 6.0).abs() < 1e-5, "{mass:?}");
        let axes = Mat3::from_quat(mass.axes);
        let back = axes * Mat3::from_diagonal(mass.inertia) * axes.transpose();
        let frame = Mat3::from_quat(turned.rotation);
        let wanted = Mat3::from_cols(Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.1, 2.0, 0.0), Vec3::Z * 3.0);
        assert!(back.abs_diff_eq(frame * wanted * frame.transpose(), 1e-5), "{back}");
    }
}
