//! Labels: how they look, what hides them, and who does not see them at all.

use downbeat_render::{Camera, Captured, FramePacket, Label, Occlusion, Shape};
use glam::{Vec2, Vec3};

use crate::golden::{check, colours, on_a_floor, painted};
use crate::{capture, device, instance};

#[test]
fn labels_look_as_they_did() {
    let Some(mut gpu) = device() else { return };
    let mut packet = on_a_floor(vec![
        painted(
            instance(1, Shape::Box { half: Vec3::splat(0.5) }, Vec3::new(-1.1, 0.0, 0.5)),
            [0.95; 3],
            0.0,
            0.8,
        ),
        painted(
            instance(2, Shape::Sphere { radius: 0.6 }, Vec3::new(0.5, -0.2, 0.6)),
            [0.015, 0.018, 0.02],
            0.0,
            0.5,
        ),
        painted(
            instance(3, Shape::Capsule { radius: 0.2, half_length: 0.4 }, Vec3::new(2.4, 9.0, 0.6)),
            [0.7, 0.25, 0.1],
            0.0,
            0.5,
        ),
    ]);
    let coloured = |position: Vec3, text: &str, colour: [f32; 3]| Label {
        colour: colour.into(),
        ..Label::new(position, text)
    };
    let centred = |label: Label| Label { anchor: Vec2::splat(0.5), offset: Vec2::ZERO, ..label };
    packet.labels = vec![
        Label::new(Vec3::new(2.4, 9.0, 1.2), "far away"),
        Label { size: 22.0, ..Label::new(Vec3::new(-1.1, 0.0, 1.0), "base_link") },
        centred(Label::new(Vec3::new(-1.0, -0.5, 0.5), "white on white")),
        centred(coloured(Vec3::new(-1.0, -0.5, 0.22), "amber", [1.0, 0.55, 0.08])),
        centred(coloured(Vec3::new(0.5, -0.2, 0.58), "gripper_left\n12.40 N · 3.1 m/s\nΔt 0.5 µs", [1.0; 3])),
        centred(coloured(Vec3::new(0.5, -0.2, 0.12), "black on black", [0.0; 3])),
        Label { occlusion: Occlusion::Faded, ..Label::new(Vec3::new(0.3, 1.4, 0.6), "faded, behind") },
        Label { occlusion: Occlusion::Hidden, ..Label::new(Vec3::new(0.2, 1.4, 0.1), "HIDDEN") },
        centred(coloured(
            Vec3::new(-0.4, -2.0, 0.0),
            "Ωμέγα · Скорость · Größe · \u{1F980}",
            [0.35, 0.85, 1.0],
        )),
        Label {
            size: 11.0,
            ..Label::new(Vec3::new(1.7, -1.2, 0.0), "eleven pixels high\nand still legible")
        },
        Label {
            anchor: Vec2::new(0.0, 0.5),
            size: 17.0,
            ..coloured(Vec3::new(-4.6, 6.0, 2.6), "left-aligned\nover the sky", [1.0, 0.35, 0.3])
        },
    ];
    let camera =
        Camera::perspective(640, 400, 0.75).looking_at(Vec3::new(0.9, -5.4, 2.1), Vec3::new(0.1, 0.0, 0.6));
    let captured = capture(&mut gpu, &packet, &camera);
    check("labels", captured.width, captured.height, &colours(&captured));
}

fn view() -> Camera {
    Camera::perspective(160, 80, 0.8).looking_at(Vec3::Y * -5.0, Vec3::ZERO)
}

/// A wall, and one label in the middle of it at so many metres from the camera.
fn before_a_wall(metres: f32, occlusion: Occlusion) -> FramePacket {
    let mut packet = FramePacket::default();
    packet.instances.push(instance(1, Shape::Box { half: Vec3::new(9.0, 0.5, 9.0) }, Vec3::ZERO));
    let at = Vec3::Y * (metres - 5.0);
    packet.labels.push(Label { anchor: Vec2::splat(0.5), occlusion, ..Label::new(at, "MMMM") });
    packet
}

/// How much the brightest pixel differs from the same picture without labels.
fn ink(with: &Captured, without: &Captured) -> u8 {
    let differences = with.colour.iter().zip(&without.colour);
    differences.map(|(a, b)| a[1].abs_diff(b[1])).max().expect("a picture has pixels")
}

#[test]
fn what_stands_before_a_label_hides_it_as_it_asks() {
    let Some(mut gpu) = device() else { return };
    let mut ink_at = |metres: f32, occlusion: Occlusion| {
        let mut packet = before_a_wall(metres, occlusion);
        let with = capture(&mut gpu, &packet, &view());
        packet.labels.clear();
        ink(&with, &capture(&mut gpu, &packet, &view()))
    };
    for occlusion in [Occlusion::Ignored, Occlusion::Faded, Occlusion::Hidden] {
        assert!(ink_at(3.0, occlusion) > 60, "{occlusion:?}: before the wall");
        assert!(ink_at(4.5, occlusion) > 60, "{occlusion:?}: on its surface");
    }
    let [ignored, faded, hidden] =
        [Occlusion::Ignored, Occlusion::Faded, Occlusion::Hidden].map(|occlusion| ink_at(7.0, occlusion));
    assert!(ignored > 60 && hidden == 0, "{ignored}, {hidden}");
    assert!((5..ignored / 4 * 3).contains(&faded), "{faded} of {ignored}");
}

#[test]
fn sensors_see_the_world_and_nothing_that_is_drawn_over_it() {
    let Some(mut gpu) = device() else { return };
    let mut packet = before_a_wall(3.0, Occlusion::Ignored);
    let (label, wall) = (packet.labels[0].clone(), packet.instances[0]);
    packet.labels.clear();
    packet.instances[0].shape = Shape::Sphere { radius: 0.7 };
    let bare = capture(&mut gpu, &packet, &view().as_sensor());
    let bare_for_people = capture(&mut gpu, &packet, &view());
    assert_eq!(bare, bare_for_people, "a world without overlays is the same for both");

    packet.labels.push(label);
    packet.grid = true;
    packet.selected = wall.object;
    packet.arrow(Vec3::new(-1.0, -2.0, 0.0), Vec3::new(1.0, -2.0, 0.5), Vec3::X);
    assert_eq!(capture(&mut gpu, &packet, &view().as_sensor()), bare);
    let for_people = capture(&mut gpu, &packet, &view());
    assert!(ink(&for_people, &bare) > 60);
    assert_eq!(Captured { colour: bare.colour.clone(), ..for_people }, bare, "colours alone differ");
}

#[test]
fn more_glyphs_than_there_is_room_for_make_way_for_those_of_the_next_picture() {
    let (Some(mut gpu), Some(mut fresh)) = (device(), device()) else { return };
    let mut packet = before_a_wall(3.0, Occlusion::Ignored);
    let label = packet.labels[0].clone();
    // Far more than the texture holds; small ones last, for the room that large ones leave.
    for size in [90.0, 80.0, 70.0, 60.0, 30.0, 28.0, 26.0, 24.0, 22.0, 20.0, 18.0, 16.0] {
        let letters = |text: String| Label { size, text: text.into(), ..label.clone() };
        packet.labels = vec![letters(('!'..='~').collect()), letters(('А'..='я').collect())];
        capture(&mut gpu, &packet, &view());
    }
    packet.labels = vec![Label { size: 45.0, ..label }];
    assert_eq!(capture(&mut gpu, &packet, &view()), capture(&mut fresh, &packet, &view()));
}
