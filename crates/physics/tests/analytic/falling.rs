//! Bodies that fly, slide and bounce.

use downbeat_world::{Body, Collider, Pose, Shape, Velocity};
use glam::{Quat, Vec3};

use super::{G, ball, ground, place, run, solid};

/// The solver takes four small steps in each of 1 ms and falls g·dt·t/8 farther than the parabola, 1.2 mm after a
/// second; rounding adds a tenth of a millimetre.
#[test]
fn a_throw_is_a_parabola() {
    let mut scene = solid("1000");
    let id = ball(&mut scene, Vec3::Z, 0.1);
    let velocity = Vec3::new(3.0, -2.0, 5.0);
    scene.world_mut().set(id, Velocity { linear: velocity, ..Velocity::default() });
    run(&mut scene, 1.0);
    let exact = Vec3::Z + velocity - Vec3::Z * G / 2.0;
    let late = Vec3::NEG_Z * G * 0.001 / 8.0;
    assert!((place(&scene, id) - exact - late).length() < 2e-4, "{} m, not {exact}", place(&scene, id));
}

/// A flat box on a slope of this angle, with this friction: how far it slides in the second second.
fn slide(angle: f32, friction: f32) -> f32 {
    let mut scene = solid("500");
    let turned = Quat::from_rotation_y(angle);
    ground(&mut scene, turned, friction, 0.0);
    let id = scene.world_mut().spawn("box", Pose { position: turned * (Vec3::Z * 0.05), rotation: turned });
    scene.world_mut().set(id, Body::default());
    let shape = Shape::Box { half: Vec3::new(0.2, 0.2, 0.05) };
    scene.world_mut().set(id, Collider { friction, ..Collider::new(shape) });
    run(&mut scene, 1.0);
    let (there, speed) =
        (place(&scene, id), scene.world().components.velocity.get(id).expect("it moves").linear);
    run(&mut scene, 1.0);
    // What is left of the way when the speed that it had is taken away.
    (place(&scene, id) - there - speed).dot(turned * Vec3::X)
}

/// It slides where tan θ > μ, and then with g (sin θ − μ cos θ), to 2 % of g sin θ.
#[test]
fn friction_holds_or_slows() {
    for (angle, friction) in [(0.4, 0.5), (0.2, 0.25), (0.7, 0.9)] {
        let way = slide(angle, friction);
        assert!(way.abs() < 2e-3, "tan {angle} < {friction}, but it slides {way} m");
    }
    for (angle, friction) in [(0.5, 0.5), (0.5, 0.0), (0.7, 0.3), (0.3, 0.2)] {
        let (sin, cos) = libm::sincosf(angle);
        let (measured, exact) = (2.0 * slide(angle, friction), G * (sin - friction * cos));
        assert!(
            (measured - exact).abs() < 0.02 * G * sin,
            "{angle}, {friction}: {measured} m/s², not {exact}"
        );
    }
}

/// A bounce takes 1 − e² of the height, to 3 % of it: at 1 kHz and 4.4 m/s the ball meets the ground within 4.4 mm.
#[test]
fn a_bounce_keeps_its_share_of_height() {
    for restitution in [0.9_f32, 0.6, 0.0] {
        let mut scene = solid("1000");
        ground(&mut scene, Quat::IDENTITY, 0.0, restitution);
        let id = ball(&mut scene, Vec3::Z * 1.1, 0.1);
        let collider = scene.world().components.collider.get(id).unwrap().clone();
        scene.world_mut().set(id, Collider { restitution, ..collider });
        let mut tops = Vec::new();
        let (mut before, mut rising) = (1.1, false);
        for _ in 0..3000 {
            scene.run_steps(1).unwrap();
            let height = place(&scene, id).z;
            if rising && height < before {
                tops.push(before - 0.1);
            }
            (before, rising) = (height, height > before);
        }
        let mut exact = 1.0;
        for top in tops.iter().take(2) {
            exact *= restitution * restitution;
            assert!((top - exact).abs() < 0.03 * exact.max(0.1), "{restitution}: {tops:?}, not {exact}");
        }
        assert!(restitution == 0.0 || tops.len() >= 2, "{restitution}: it does not bounce");
    }
}

/// What air would take: a damping of c per second leaves 1/(1 + c·dt) of the speed in each step, e^−ct in the limit.
#[test]
fn damping_takes_speed() {
    let mut scene = solid("1000");
    let id = ball(&mut scene, Vec3::ZERO, 0.1);
    let body = Body {
        gravity_scale: 0.0,
        linear_damping: 0.5,
        angular_damping: 2.0,
        can_sleep: false,
        ..Body::default()
    };
    scene.world_mut().set(id, body);
    scene.world_mut().set(id, Velocity { linear: Vec3::X * 4.0, angular: Vec3::Z * 4.0 });
    run(&mut scene, 1.0);
    let velocity = scene.world().components.velocity.get(id).unwrap();
    assert!((velocity.linear.x - 4.0 * libm::expf(-0.5)).abs() < 0.005, "{velocity:?}");
    assert!((velocity.angular.z - 4.0 * libm::expf(-2.0)).abs() < 0.005, "{velocity:?}");
}
