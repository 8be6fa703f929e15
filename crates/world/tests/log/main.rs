//! The world log: what is acknowledged survives crashes, full disks and failing ones, and damage is never taken for
//! truth.

mod crashes;
mod damage;
mod faults;
mod lives;
mod scenes;
mod simulated;
