//! Components: the plain data that entities are made of, as one closed list.
//!
//! A component holds no reference and no behaviour. Subsystems read and write them; that is all they know of one
//! another. Each kind has its file below; this one lists them.

mod articulation;
mod body;
mod camera;
mod identity;
mod motion;
mod shape;
mod visual;

use serde::{Deserialize, Serialize};

pub use articulation::{Articulation, Joint, JointKind, JointState, Motor, MotorMode, MotorTarget, Robot};
pub use body::{Body, BodyKind, Collider, ExternalForce, Groups, MassProperties, Space};
pub use camera::{Camera, Lens, Light, Outputs};
pub use identity::{Datum, Name, Parent, Tags, UserData};
pub use motion::{Pose, Velocity};
pub use shape::{Part, Shape};
pub(crate) use shape::{around_points, corners};
pub use visual::{Mesh, Surface};

use crate::column::Column;
use crate::entity::EntityId;

/// Why a component is refused: it could not be simulated or drawn.
pub type Refusal = String;

/// Lists the kinds once; everything that must treat each of them is written from this list.
macro_rules! components {
    ($($(#[$doc:meta])* $kind:ident, $field:ident;)*) => {
        /// A component of any kind.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Component {
            $($(#[$doc])* $kind($kind),)*
        }

        /// The kinds of components, in the order in which they are saved and hashed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ComponentKind {
            $($(#[$doc])* $kind,)*
        }

        impl ComponentKind {
            /// Every kind, in order.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// Its name in files and messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => stringify!($field),)* }
            }
        }

        impl Component {
            /// What kind it is.
            pub const fn kind(&self) -> ComponentKind {
                match self { $(Self::$kind(_) => ComponentKind::$kind,)* }
            }

            /// Whether it could be simulated: finite numbers, sensible ranges.
            pub fn check(&self) -> Result<(), Refusal> {
                match self { $(Self::$kind(value) => Checked::check(value),)* }
            }

            /// The entities it names, which must live.
            pub fn references(&self) -> Vec<EntityId> {
                match self { $(Self::$kind(value) => Checked::references(value),)* }
            }
        }

        $(impl From<$kind> for Component {
            fn from(value: $kind) -> Self {
                Self::$kind(value)
            }
        })*

        /// An entity as a file has it, each part with its place in the text.
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct EntityText {
            pub(crate) id: Option<toml::Spanned<EntityId>>,
            $($field: Option<toml::Spanned<$kind>>,)*
        }

        impl EntityText {
            /// Its components, each with its place in the text.
            pub(crate) fn components(self) -> Vec<toml::Spanned<Component>> {
                let mut components = Vec::new();
                $(components.extend(self.$field.map(|text| {
                    toml::Spanned::new(text.span(), Component::$kind(text.into_inner()))
                }));)*
                components
            }
        }

        /// An entity on its way into a file.
        #[derive(Debug, Serialize)]
        pub(crate) struct EntityRow<'a> {
            id: EntityId,
            $(#[serde(skip_serializing_if = "Option::is_none")] $field: Option<&'a $kind>,)*
        }

        impl<'a> EntityRow<'a> {
            pub(crate) fn of(components: &'a Components, id: EntityId) -> Self {
                Self { id, $($field: components.$field.get(id),)* }
            }
        }

        /// All components of a world, one column per kind.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub struct Components {
            $($(#[$doc])* pub $field: Column<$kind>,)*
        }

        impl Components {
            /// Sets a component of an entity.
            pub(crate) fn insert(&mut self, id: EntityId, component: Component) {
                match component { $(Component::$kind(value) => { self.$field.insert(id, value); })* }
            }

            /// Takes a component from an entity. Says whether it had one.
            pub(crate) fn remove(&mut self, id: EntityId, kind: ComponentKind) -> bool {
                match kind { $(ComponentKind::$kind => self.$field.remove(id).is_some(),)* }
            }

            /// Whether an entity has a component of this kind.
            pub fn contains(&self, id: EntityId, kind: ComponentKind) -> bool {
                match kind { $(ComponentKind::$kind => self.$field.contains(id),)* }
            }

            /// An entity's components, in the order of kinds.
            pub fn of(&self, id: EntityId) -> Vec<Component> {
                let mut components = Vec::new();
                $(components.extend(self.$field.get(id).cloned().map(Component::$kind));)*
                components
            }

            /// Whether columns that came from outside are sound.
            pub(crate) fn problem(&self, lives: impl Fn(EntityId) -> bool) -> Option<ComponentKind> {
                $(if !self.$field.is_sound(&lives) { return Some(ComponentKind::$kind); })*
                None
            }

            /// Calls `each` with every column, in the order of kinds.
            #[inline]
            pub(crate) fn visit_columns<V: VisitColumn>(&self, each: &mut V) {
                $(each.visit_column(ComponentKind::$kind, &self.$field);)*
            }

            /// Calls `each` with every component of a kind, in creation order.
            pub(crate) fn visit<V: Visit>(&self, kind: ComponentKind, each: &mut V) {
                match kind {
                    $(ComponentKind::$kind => {
                        for (id, value) in self.$field.iter() { each.visit(id, value); }
                    })*
                }
            }
        }
    };
}

components! {
    /// What people call it.
    Name, name;
    /// What it hangs on.
    Parent, parent;
    /// Where it is, relative to its parent.
    Pose, pose;
    /// How it moves.
    Velocity, velocity;
    /// That physics moves it, and how.
    Body, body;
    /// What it collides with.
    Collider, collider;
    /// What is pushing it.
    ExternalForce, force;
    /// How it hangs on another body.
    Joint, joint;
    /// Where its joint is.
    JointState, joint_state;
    /// Where its joint should go.
    MotorTarget, motor_target;
    /// What can be seen from it.
    Camera, camera;
    /// How it shines.
    Light, light;
    /// What is drawn for it.
    Mesh, mesh;
    /// Which joints make it a robot.
    Robot, robot;
    /// Words to find it by.
    Tags, tags;
    /// What its users keep with it.
    UserData, user_data;
}

impl Components {
    /// A component that came from outside and says of something what could never be, if there is one. How things move
    /// is not looked at: that may be beyond all bounds for a while, and is for whoever steps it to say.
    pub(crate) fn unsound(&self) -> Option<(EntityId, ComponentKind, Refusal)> {
        fn first<T: Checked>(column: &Column<T>) -> Option<(EntityId, Refusal)> {
            column.iter().find_map(|(id, value)| value.check().err().map(|refusal| (id, refusal)))
        }
        let found = [
            (ComponentKind::Body, first(&self.body)),
            (ComponentKind::Collider, first(&self.collider)),
            (ComponentKind::Joint, first(&self.joint)),
            (ComponentKind::Mesh, first(&self.mesh)),
            (ComponentKind::Robot, first(&self.robot)),
        ];
        found.into_iter().find_map(|(kind, found)| found.map(|(id, refusal)| (id, kind, refusal)))
    }
}

/// What every component can say about itself.
pub(crate) trait Checked: Sized {
    /// Whether it could be simulated.
    fn check(&self) -> Result<(), Refusal>;

    /// The entities it names.
    fn references(&self) -> Vec<EntityId> {
        Vec::new()
    }

    /// Components of this kind as the bytes that they are, if every one of those belongs to a number: what many steps
    /// change is hashed as it stands in memory, the rest as it is saved.
    fn plain_bytes(values: &[Self]) -> Option<&[u8]> {
        let _ = values;
        None
    }
}

/// Something that looks at whole columns.
pub(crate) trait VisitColumn {
    fn visit_column<T: Serialize + Checked>(&mut self, kind: ComponentKind, column: &Column<T>);
}

/// Something that looks at components of any kind.
pub(crate) trait Visit {
    fn visit<T: Serialize>(&mut self, id: EntityId, value: &T);
}

/// Refuses unless `holds`.
pub(crate) fn ensure(holds: bool, refusal: impl FnOnce() -> Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal()) }
}

/// Refuses numbers that are not finite, by name.
pub(crate) fn finite(what: &str, numbers: impl IntoIterator<Item = f32>) -> Result<(), Refusal> {
    ensure(numbers.into_iter().all(f32::is_finite), || format!("{what} must be finite"))
}

/// Refuses numbers below zero or not finite, by name.
pub(crate) fn not_negative(what: &str, number: f32) -> Result<(), Refusal> {
    ensure(number.is_finite() && number >= 0.0, || format!("{what} must be 0 or more, not {number}"))
}

/// Refuses numbers that are not above zero, by name.
pub(crate) fn positive(what: &str, number: f32) -> Result<(), Refusal> {
    ensure(number.is_finite() && number > 0.0, || format!("{what} must be above 0, not {number}"))
}
