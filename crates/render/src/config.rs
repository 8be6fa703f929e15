//! How rendering is threaded, and its limits.

/// On which thread commands run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThreadingPolicy {
    /// On main, at the end of its frame. The editor's policy: main is the render thread.
    #[default]
    SingleThreaded,
    /// On a thread of their own, while main is at its next frame. The runtime's policy.
    MultiThreaded,
    /// Reserved. Refused.
    None,
}

/// What a renderer starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderConfig {
    /// On which thread commands run.
    pub policy: ThreadingPolicy,
    /// Whether every kick waits for its frame: one frame less of latency, and no overlap.
    pub full_sync: bool,
    /// Bytes that main's commands of a frame may take, and as many again those of other threads, so that neither takes
    /// the other's room. One more is dropped and reported by the next kick.
    pub bytes_max: usize,
    /// Commands of a frame from which `try_submit` refuses, so that a thread gone wild leaves room for main.
    pub try_commands_max: usize,
}

impl Default for RenderConfig {
    fn default() -> Self {
        Self {
            policy: ThreadingPolicy::default(),
            full_sync: false,
            bytes_max: 64 << 20,
            try_commands_max: 1 << 16,
        }
    }
}
