//! Inverse kinematics by damped least squares: steps that shrink the error, damped more when one did not, less when it
//! did. Joints stop at their limits. Memory is set aside with the chain, so an iteration allocates nothing.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::frame::Frame;
use super::{Chain, Link, Motion};
use crate::component::Pose;
use crate::random::Random;

/// How [`Chain::reach`] looks for positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IkSettings {
    /// Whether the tool's turn counts, or its place alone.
    pub orientation: bool,
    /// The most steps of one attempt.
    pub iterations: u32,
    /// How many more attempts there are, each from other positions within the limits. The same ones every time.
    pub restarts: u32,
    /// How much the first step is damped.
    pub damping: f64,
    /// How close the tool must come, in metres.
    pub position_tolerance: f64,
    /// How close its turn must come, in radians.
    pub rotation_tolerance: f64,
}

/// How far an attempt came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Whether it is within the tolerances.
    pub reached: bool,
    /// Metres between the tool and its goal.
    pub position_error: f64,
    /// Radians between them; 0 when the turn does not count.
    pub rotation_error: f64,
    /// Steps of all attempts.
    pub iterations: u32,
}

impl Default for IkSettings {
    fn default() -> Self {
        Self {
            orientation: true,
            iterations: 100,
            restarts: 16,
            damping: 1e-2,
            position_tolerance: 1e-4,
            rotation_tolerance: 1e-3,
        }
    }
}

/// Three of place, three of turn.
type Six = [f64; 6];

/// What a search works with.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    positions: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    /// How the tool moves with each joint.
    columns: Vec<Six>,
}

impl Scratch {
    pub(super) fn for_joints(len: usize) -> Self {
        let zeros = vec![0.0; len];
        Self { positions: zeros.clone(), trial: zeros.clone(), best: zeros, columns: vec![[0.0; 6]; len] }
    }
}

impl Chain {
    /// Looks for positions that bring the tool to `base_from_tool`, beginning with those given, one for each joint of
    /// [`Chain::joints`]. They become the best that were found, reached or not, and are within the joints' limits.
    pub fn reach(&mut self, base_from_tool: Pose, positions: &mut [f32], settings: &IkSettings) -> Reach {
        // Taken out while the chain is read; an empty one takes its place without allocating.
        let mut scratch = std::mem::replace(&mut self.scratch, Scratch::for_joints(0));
        let goal = Frame::from(base_from_tool);
        let mut random = Random::new(0, "inverse kinematics");
        let mut best: Option<Reach> = None;
        let mut iterations = 0;
        for attempt in 0..=settings.restarts {
            for (at, link) in self.links.iter().enumerate() {
                let start = positions.get(at).copied().map_or(0.0, f64::from);
                scratch.positions[at] =
                    link.within(if attempt == 0 { start } else { link.anywhere(start, &mut random) });
            }
            let reach = self.attempt(goal, settings, &mut scratch);
            iterations += reach.iterations;
            let better = best.is_none_or(|best| {
                reach.position_error + reach.rotation_error < best.position_error + best.rotation_error
            });
            if better {
                best = Some(reach);
                scratch.best.copy_from_slice(&scratch.positions);
            }
            if reach.reached {
                break;
            }
        }
        for (to, from) in positions.iter_mut().zip(&scratch.best) {
            *to = *from as f32;
        }
        self.scratch = scratch;
        let none = Reach { reached: false, position_error: 0.0, rotation_error: 0.0, iterations };
        Reach { iterations, ..best.unwrap_or(none) }
    }

    /// One descent from `scratch.positions`.
    fn attempt(&self, goal: Frame, settings: &IkSettings, scratch: &mut Scratch) -> Reach {
        let Scratch { positions, trial, columns, .. } = scratch;
        let mut damping = settings.damping.max(1e-9);
        let mut error = settings.error(self.place(positions), goal);
        let mut iterations = 0;
        while iterations < settings.iterations && !settings.is_reached(&error) && damping < 1e9 {
            iterations += 1;
            self.differentiate(positions, settings.orientation, columns);
            self.hold_at_limits(positions, &error, columns);
            let step = solve(damped_square(columns, damping), error);
            for (at, link) in self.links.iter().enumerate() {
                trial[at] = link.within(positions[at] + dot(&columns[at], &step));
            }
            let then = settings.error(self.place(trial), goal);
            if dot(&then, &then) < dot(&error, &error) {
                std::mem::swap(positions, trial);
                (error, damping) = (then, (damping * 0.25).max(1e-9));
            } else {
                damping *= 4.0;
            }
        }
        let [position_error, rotation_error] = lengths(&error);
        Reach { reached: settings.is_reached(&error), position_error, rotation_error, iterations }
    }

    /// Where the tool is.
    fn place(&self, positions: &[f64]) -> Frame {
        let links = self.links.iter().zip(positions);
        links.fold(self.base_from_first, |frame, (link, position)| {
            frame * link.motion.by(*position) * link.after
        })
    }

    /// How the tool moves with each joint, as the base sees it.
    fn differentiate(&self, positions: &[f64], orientation: bool, columns: &mut [Six]) {
        let tool = self.place(positions).position;
        let mut frame = self.base_from_first;
        for ((link, position), column) in self.links.iter().zip(positions).zip(columns) {
            let (linear, angular) = match link.motion {
                Motion::Turn(axis) => {
                    let axis = frame.rotation * axis;
                    (axis.cross(tool - frame.position), if orientation { axis } else { DVec3::ZERO })
                }
                Motion::Slide(axis) => (frame.rotation * axis, DVec3::ZERO),
            };
            *column = six(linear, angular);
            frame = frame * link.motion.by(*position) * link.after;
        }
    }

    /// A joint that stands at its limit and would be pushed farther takes no part in this step.
    fn hold_at_limits(&self, positions: &[f64], error: &Six, columns: &mut [Six]) {
        for ((link, position), column) in self.links.iter().zip(positions).zip(columns) {
            let Some([low, high]) = link.limits else { continue };
            let push = dot(column, error);
            if (*position <= low && push < 0.0) || (*position >= high && push > 0.0) {
                *column = [0.0; 6];
            }
        }
    }
}

impl Link {
    fn within(&self, position: f64) -> f64 {
        self.limits.map_or(position, |[low, high]| position.clamp(low, high))
    }

    /// A position to begin with: within the limits, or a full turn or a metre around the start without any.
    fn anywhere(&self, start: f64, random: &mut Random) -> f64 {
        let reach = match self.motion {
            Motion::Turn(_) => std::f64::consts::PI,
            Motion::Slide(_) => 1.0,
        };
        let [low, high] = self.limits.unwrap_or([start - reach, start + reach]);
        random.between(low, high)
    }
}

impl IkSettings {
    /// What is left from the tool's frame to its goal.
    fn error(&self, tool: Frame, goal: Frame) -> Six {
        let turn = if self.orientation { tool.turn_to(goal) } else { DVec3::ZERO };
        six(goal.position - tool.position, turn)
    }

    fn is_reached(&self, error: &Six) -> bool {
        let [position, rotation] = lengths(error);
        position <= self.position_tolerance && rotation <= self.rotation_tolerance
    }
}

fn six(linear: DVec3, angular: DVec3) -> Six {
    [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
}

fn lengths(error: &Six) -> [f64; 2] {
    [DVec3::from_slice(&error[..3]).length(), DVec3::from_slice(&error[3..]).length()]
}

fn dot(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// J Jᵀ + λ I: the damped square of how the tool moves, which always has an inverse.
fn damped_square(columns: &[Six], damping: f64) -> [Six; 6] {
    let mut square = [[0.0; 6]; 6];
    for (at, row) in square.iter_mut().enumerate() {
        for (beside, entry) in row.iter_mut().enumerate() {
            *entry = columns.iter().map(|column| column[at] * column[beside]).sum();
        }
        row[at] += damping;
    }
    square
}

/// Solves a symmetric positive definite system by elimination; such a one needs no pivots.
fn solve(mut matrix: [Six; 6], mut right: Six) -> Six {
    for at in 0..6 {
        let (above, below) = matrix.split_at_mut(at + 1);
        let pivot = &above[at];
        for (row, number) in below.iter_mut().zip(at + 1..) {
            let factor = row[at] / pivot[at];
            row.iter_mut().zip(pivot).for_each(|(entry, over)| *entry -= factor * over);
            right[number] -= factor * right[at];
        }
    }
    for at in (0..6).rev() {
        let known: f64 = (at + 1..6).map(|beside| matrix[at][beside] * right[beside]).sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{damped_square, dot, solve};

    proptest! {
        #[test]
        fn a_solved_system_holds(columns in proptest::collection::vec(proptest::array::uniform6(-2.0..2.0_f64), 1..9), right in proptest::array::uniform6(-1.0..1.0_f64)) {
            let matrix = damped_square(&columns, 1e-3);
            let found = solve(matrix, right);
            for (row, wanted) in matrix.iter().zip(right) {
                prop_assert!((dot(row, &found) - wanted).abs() < 1e-8);
            }
        }
    }
}
