//! Text at a place in the world, for debugging. Sizes are in pixels, so it stays as crisp far away as near by.
//!
//! One character is one glyph: there is no shaping, so scripts that need it come out letter by letter.

use std::sync::Arc;

use glam::{Vec2, Vec3};

/// What becomes of a label when something stands before its position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Occlusion {
    /// It is drawn on top of everything: what a label inside of a body needs.
    #[default]
    Ignored,
    /// It is drawn faintly.
    Faded,
    /// It is not drawn.
    Hidden,
}

/// Text at a place in the world, with a halo that sets it off from whatever is behind it.
///
/// Newlines begin new lines, a tab is a space, and other control characters are left out. A character that the font
/// lacks is a box; it has Latin, Greek, Cyrillic and common symbols. Of a text longer than [`Label::CHARS_MAX`] the
/// rest is an ellipsis.
///
/// ```
/// use downbeat_render::{FramePacket, Label};
/// use glam::Vec3;
///
/// let mut packet = FramePacket::default();
/// packet.label(Vec3::Z, "gripper");
/// packet.labels.push(Label { size: 22.0, ..Label::new(Vec3::ZERO, format!("{:.1} N", 9.81)) });
/// assert_eq!(&*packet.labels[1].text, "9.8 N");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Where it belongs, in the world. What is behind the camera, or out of its range, has no label.
    pub position: Vec3,
    /// What it says. Keep a name that stays the same from frame to frame and clone it: that copies nothing.
    pub text: Arc<str>,
    /// Linear colour, shown as it is: neither lit nor developed. Dark ones get a light halo, all others a dark one.
    pub colour: Vec3,
    /// Height of the font in pixels of the picture, as [`Line::width`](crate::Line::width) is. Times the scale factor
    /// of a screen for text that is as large on each; kept within [`Label::SIZE_MIN`] and [`Label::SIZE_MAX`].
    pub size: f32,
    /// Which point of the text lies on the position: (0, 0) is its upper left and (1, 1) its lower right. Also how
    /// lines of different length are aligned.
    pub anchor: Vec2,
    /// So many pixels away from there, to the right and down.
    pub offset: Vec2,
    /// What becomes of it when something stands before its position.
    pub occlusion: Occlusion,
}

impl Label {
    /// Characters of one label; the rest is an ellipsis.
    pub const CHARS_MAX: usize = 512;
    /// The smallest font.
    pub const SIZE_MIN: f32 = 6.0;
    /// The largest font.
    pub const SIZE_MAX: f32 = 96.0;

    /// White text of usual size, centred above its position, on top of everything.
    pub fn new(position: Vec3, text: impl Into<Arc<str>>) -> Self {
        Self {
            position,
            text: text.into(),
            colour: Vec3::ONE,
            size: 14.0,
            anchor: Vec2::new(0.5, 1.0),
            offset: Vec2::new(0.0, -4.0),
            occlusion: Occlusion::default(),
        }
    }
}
