//! Hierarchies: world poses are products along the way up, children and descendants are in creation order.

use downbeat_world::{EntityId, Parent, Pose, World};
use glam::{Quat, Vec3};
use proptest::prelude::{any, prop, prop_assert, proptest};

fn pose() -> impl proptest::strategy::Strategy<Value = Pose> {
    use proptest::strategy::Strategy as _;
    let place = prop::array::uniform3(-2.0..2.0_f32).prop_map(Vec3::from_array);
    let turn =
        prop::array::uniform3(-3.0..3.0_f32).prop_map(|axis| Quat::from_scaled_axis(Vec3::from_array(axis)));
    (place, turn).prop_map(|(position, rotation)| Pose { position, rotation })
}

proptest! {
    #[test]
    fn a_world_pose_is_what_matrices_give(nodes in prop::collection::vec((pose(), any::<prop::sample::Index>()), 1..20)) {
        let mut world = World::new(1);
        let mut matrices: Vec<glam::Mat4> = Vec::new();
        let mut ids: Vec<EntityId> = Vec::new();
        for (pose, above) in nodes {
            let own = glam::Mat4::from_rotation_translation(pose.rotation, pose.position);
            let id = world.spawn("node", pose);
            if ids.is_empty() {
                matrices.push(own);
            } else {
                let above = above.index(ids.len());
                world.set(id, Parent(ids[above]));
                matrices.push(matrices[above] * own);
            }
            ids.push(id);
        }
        for (id, matrix) in ids.iter().zip(&matrices) {
            let found = world.world_pose(*id);
            let point = Vec3::new(0.3, -0.2, 0.1);
            let wanted = matrix.transform_point3(point);
            prop_assert!((found.transform_point(point) - wanted).length() < 1e-3, "{found:?}");
            prop_assert!((found.inverse().transform_point(wanted) - point).length() < 1e-3);
        }
    }
}

#[test]
fn children_and_descendants_are_in_creation_order() {
    let mut world = World::new(1);
    let root = world.spawn("root", Pose::IDENTITY);
    let [a, b] = ["a", "b"].map(|name| world.spawn_on(root, name, Pose::IDENTITY));
    let leaf = world.spawn_on(a, "leaf", Pose::IDENTITY);
    let late = world.spawn_on(root, "late", Pose::IDENTITY);
    world.set(b, Parent(late));
    assert_eq!(world.children(root).collect::<Vec<_>>(), [a, late]);
    assert_eq!(world.with_descendants(root), [root, a, late, leaf, b]);
    assert_eq!(world.find("leaf"), Some(leaf));
    assert_eq!(world.find("root/leaf"), None);
}

#[test]
fn an_entity_without_a_pose_is_where_its_parent_is() {
    let mut world = World::new(1);
    let root = world.spawn("root", Pose::at(Vec3::X));
    let bare = world.spawn_on(root, "bare", Pose::IDENTITY);
    let leaf = world.spawn_on(bare, "leaf", Pose::at(Vec3::Y));
    world.set(bare, Pose::at(Vec3::Z));
    assert_eq!(world.world_pose(leaf).position, Vec3::ONE);
    assert_eq!(world.world_pose(EntityId::new(50)), Pose::IDENTITY);
}
