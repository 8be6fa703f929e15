//! Models from files: what good ones become, what bad ones are answered with, what no file can do, and whether other
//! readers see the same.
#![cfg(all(feature = "models", not(any(downbeat_loom, downbeat_shuttle))))]

mod files;
mod formats;
mod hostile;
mod peers;
mod refusals;

use downbeat_render::{Model, ModelError, ModelLimits};

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Result<Model, ModelError> {
    Model::from_bytes(name, bytes.as_ref(), &ModelLimits::default())
}
