//! How large what is imported may be. All files of a robot count together.

/// Bytes of one XML file.
pub(super) const XML_LEN_MAX: u64 = 16 << 20;
/// Elements inside elements.
pub(super) const XML_DEPTH_MAX: usize = 128;
/// Files that are included, each time they are.
pub(super) const INCLUDES_MAX: usize = 64;
/// Bytes of one mesh file.
pub(super) const MESH_LEN_MAX: u64 = 64 << 20;
/// Corners that one mesh gives to a collider. MuJoCo and ROS advise meshes far smaller.
pub(super) const MESH_POINTS_MAX: usize = 1 << 20;
/// Links of one robot.
pub(super) const LINKS_MAX: usize = 1024;
/// Shapes of one robot, to be seen or to collide with.
pub(super) const SHAPES_MAX: usize = 8192;
/// Notes that are kept; more are counted.
pub(super) const NOTES_MAX: usize = 256;
/// Bytes of one note.
pub(super) const NOTE_LEN_MAX: usize = 512;
