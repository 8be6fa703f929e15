//! Many scenes.

/// x
pub struct SceneSet;
