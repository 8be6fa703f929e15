//! Which elements and attributes of MJCF are read. Everything else is noted; it is not said here what they mean.

use roxmltree::Node;

use super::super::xml::Format;

/// Attributes that all actuators share.
const ACTUATOR: &[&str] = &[
    "name",
    "class",
    "joint",
    "gear",
    "ctrlrange",
    "ctrllimited",
    "forcerange",
    "forcelimited",
    "kp",
    "kv",
    "gaintype",
    "biastype",
    "gainprm",
    "biasprm",
    "group",
    "user",
];

/// What is read of an MJCF file.
pub(super) const FORMAT: Format = Format {
    known: &[
        ("mujoco", &["model"]),
        (
            "compiler",
            &[
                "angle",
                "eulerseq",
                "coordinate",
                "autolimits",
                "inertiafromgeom",
                "meshdir",
                "assetdir",
                "texturedir",
                "strippath",
            ],
        ),
        ("option", &["timestep", "gravity"]),
        ("default", &["class"]),
        ("asset", &[]),
        ("mesh", &["name", "class", "file", "scale", "vertex", "face"]),
        (
            "material",
            &["name", "class", "rgba", "specular", "shininess", "reflectance", "metallic", "roughness"],
        ),
        ("worldbody", &[]),
        (
            "body",
            &[
                "name",
                "pos",
                "quat",
                "axisangle",
                "euler",
                "xyaxes",
                "zaxis",
                "childclass",
                "mocap",
                "gravcomp",
                "user",
            ],
        ),
        ("frame", &["name", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "childclass"]),
        (
            "inertial",
            &["pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "mass", "diaginertia", "fullinertia"],
        ),
        (
            "joint",
            &[
                "name", "class", "type", "pos", "axis", "limited", "range", "damping", "armature", "ref",
                "group", "user",
            ],
        ),
        ("freejoint", &["name", "group"]),
        (
            "geom",
            &[
                "name",
                "class",
                "type",
                "size",
                "pos",
                "quat",
                "axisangle",
                "euler",
                "xyaxes",
                "zaxis",
                "fromto",
                "friction",
                "mass",
                "density",
                "contype",
                "conaffinity",
                "condim",
                "group",
                "mesh",
                "hfield",
                "material",
                "rgba",
                "user",
            ],
        ),
        (
            "site",
            &[
                "name",
                "class",
                "type",
                "size",
                "pos",
                "quat",
                "axisangle",
                "euler",
                "xyaxes",
                "zaxis",
                "group",
                "material",
                "rgba",
                "user",
            ],
        ),
        ("actuator", &[]),
        ("motor", ACTUATOR),
        ("position", ACTUATOR),
        ("velocity", ACTUATOR),
        ("general", ACTUATOR),
        ("keyframe", &[]),
        ("key", &["name", "time", "qpos", "ctrl"]),
        ("include", &["file"]),
    ],
    idle: &["size", "statistic", "visual", "custom"],
    include: Some("include"),
    refusal,
};

/// What the parser must not see.
fn refusal(node: Node<'_, '_>) -> Option<&'static str> {
    // It indexes three angles with the letters of the sequence, however many there are.
    let sequence = node.attribute("eulerseq").filter(|_| node.has_tag_name("compiler"));
    if sequence
        .is_some_and(|letters| letters.len() != 3 || !letters.bytes().all(|byte| b"xyzXYZ".contains(&byte)))
    {
        return Some("`eulerseq` is three letters out of x, y, z, X, Y and Z");
    }
    // It reads sub-models wherever their paths lead, and leaves them out without a word when that fails.
    let sub_model = node.has_tag_name("model") || node.has_tag_name("attach");
    sub_model.then_some("sub-models are not read; use <include>")
}
