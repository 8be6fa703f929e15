//! Many alike: a scene's file describes one entity, and this sets copies of it out on a lattice, each a little out of
//! place. Which place is a function of the scene's seed.

use glam::{Quat, Vec3};
use serde::Deserialize;
use toml::Spanned;

use crate::component::{Component, ComponentKind, EntityText, Name, Pose};
use crate::random::Random;

/// How many copies one scatter may ask for.
const COUNT_MAX: usize = 1 << 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScatterText {
    /// How many copies.
    pub(super) count: Spanned<usize>,
    /// The lattice begins here and fills x first, then y, then z.
    low: Vec3,
    /// It goes no farther than this along x and y, and as high as it must.
    high: Vec3,
    /// From one place to the next.
    spacing: f32,
    /// The farthest out of place, along each axis.
    #[serde(default)]
    jitter: f32,
    /// Whether each is turned at random.
    #[serde(default)]
    turned: bool,
    entity: EntityText,
}

/// What is to be made: places, and what stands there.
pub(super) struct Scatter {
    pub(super) poses: Vec<Pose>,
    components: Vec<Component>,
    name: Option<String>,
}

impl ScatterText {
    /// The copies to make; `number` tells the scatters of a scene apart. Refuses what has no end or no room.
    pub(super) fn plan(self, seed: u64, number: usize) -> Result<Scatter, String> {
        let count = *self.count.get_ref();
        if count > COUNT_MAX {
            return Err(format!("a scatter makes at most {COUNT_MAX} copies, not {count}"));
        }
        let numbers = [self.low.to_array(), self.high.to_array(), [self.spacing, self.jitter, 0.0]];
        if !numbers.as_flattened().iter().all(|number| number.is_finite()) || self.spacing <= 0.0 {
            return Err("a scatter needs finite corners and a spacing above 0".to_owned());
        }
        let mut random = Random::new(seed, &format!("scatter {number}"));
        let along = |low: f32, high: f32| ((high - low).max(0.0) / self.spacing) as usize + 1;
        let (columns, rows) = (along(self.low.x, self.high.x), along(self.low.y, self.high.y));
        let poses = (0..count).map(|at| {
            let cell = [at % columns, at / columns % rows, at / columns / rows];
            let jitter = f64::from(self.jitter);
            let out_of_place = Vec3::from_array([(); 3].map(|()| random.between(-jitter, jitter) as f32));
            let position =
                self.low + Vec3::from_array(cell.map(|step| step as f32)) * self.spacing + out_of_place;
            Pose { position, rotation: if self.turned { turn(&mut random) } else { Quat::IDENTITY } }
        });
        let poses = poses.collect();
        let mut components: Vec<_> = self.entity.components().into_iter().map(Spanned::into_inner).collect();
        let name = components.iter().find_map(|component| match component {
            Component::Name(Name(name)) => Some(name.clone()),
            _ => None,
        });
        components.retain(|component| !matches!(component.kind(), ComponentKind::Name | ComponentKind::Pose));
        Ok(Scatter { poses, components, name })
    }
}

impl Scatter {
    /// What copy `at` is made of.
    pub(super) fn components(&self, at: usize) -> Vec<Component> {
        let name = self.name.iter().map(|name| Name(format!("{name} {}", at + 1)).into());
        name.chain([self.poses[at].into()]).chain(self.components.iter().cloned()).collect()
    }
}

/// Any turn, each as likely as another.
fn turn(random: &mut Random) -> Quat {
    let four = [(); 4].map(|()| random.normal() as f32);
    Quat::from_array(four).normalize()
}
