//! One JSON object on a line of its own, as every command prints it for scripts.

use std::io::{self, Write};

use serde::Serialize;

pub(crate) fn write(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}
