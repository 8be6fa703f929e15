//! What an entity is called, what it hangs on, and what its users keep with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Checked, Refusal, ensure};
use crate::entity::EntityId;

/// The longest name, tag, key or text that an entity may carry, in bytes.
const TEXT_LEN_MAX: usize = 4096;
/// How many tags or entries an entity may carry.
const ENTRIES_MAX: usize = 1024;

/// What people call it. Names need not be unique; ids are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(pub String);

/// What it hangs on: its pose is relative to this entity's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parent(pub EntityId);

/// Words to find it by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(pub Vec<String>);

/// What its users keep with it. The engine carries it and never looks inside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserData(pub BTreeMap<String, Datum>);

/// A value of [`UserData`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Datum {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Checked for Name {
    fn check(&self) -> Result<(), Refusal> {
        ensure(!self.0.is_empty(), || "a name must not be empty".to_owned())?;
        text("a name", &self.0)
    }
}

impl Checked for Parent {
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }

    fn references(&self) -> Vec<EntityId> {
        vec![self.0]
    }
}

impl Checked for Tags {
    fn check(&self) -> Result<(), Refusal> {
        count("tags", self.0.len())?;
        self.0.iter().try_for_each(|tag| text("a tag", tag))
    }
}

impl Checked for UserData {
    fn check(&self) -> Result<(), Refusal> {
        count("entries", self.0.len())?;
        for (key, value) in &self.0 {
            text("a key", key)?;
            match value {
                Datum::Text(value) => text("a text", value)?,
                Datum::Number(number) => {
                    ensure(number.is_finite(), || format!("the number of `{key}` must be finite"))?;
                }
                Datum::Flag(_) | Datum::Whole(_) => {}
            }
        }
        Ok(())
    }
}

fn text(what: &str, text: &str) -> Result<(), Refusal> {
    ensure(text.len() <= TEXT_LEN_MAX, || {
        format!("{what} may have {TEXT_LEN_MAX} bytes, this one has {}", text.len())
    })
}

fn count(what: &str, count: usize) -> Result<(), Refusal> {
    ensure(count <= ENTRIES_MAX, || format!("an entity may have {ENTRIES_MAX} {what}, this one has {count}"))
}
