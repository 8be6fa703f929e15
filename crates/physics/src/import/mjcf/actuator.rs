//! Actuators as motors of joints. MuJoCo's act on the joint's position times their gear; a motor's numbers are those
//! of the joint itself.

use downbeat_world::{Motor, MotorMode, MotorTarget};
use mjcf_rs::extras::{Actuator, ActuatorKind};

use super::super::plan::Hold;
use super::{Coordinate, Reader};

/// The motor that an actuator became.
pub(super) struct Driven {
    link: usize,
    mode: MotorMode,
    gear: f64,
    /// The joint's position in the model where ours is 0.
    zero: f64,
    /// What an input of 1 pushes, without the gear.
    gain: f64,
}

impl Driven {
    /// The link and the target that a control of the model means.
    pub(super) fn target(&self, control: f64) -> (usize, MotorTarget) {
        let mut target = MotorTarget::default();
        match self.mode {
            MotorMode::Position => target.position = (control / self.gear - self.zero) as f32,
            MotorMode::Velocity => target.velocity = (control / self.gear) as f32,
            MotorMode::Effort => target.effort = (control * self.gain * self.gear) as f32,
        }
        (self.link, target)
    }
}

impl Reader<'_> {
    /// Gives joints their motors. Returns what each actuator became, in the order of the model's controls.
    pub(super) fn actuators(&mut self) -> Vec<Option<Driven>> {
        let model = self.model;
        let each = model.actuators.iter().enumerate();
        let driven: Vec<_> = each
            .map(|(at, actuator)| {
                let name = actuator.name.clone().unwrap_or_else(|| format!("{}", at + 1));
                match self.actuator(actuator) {
                    Ok(driven) => Some(driven),
                    Err(why) => {
                        self.plan.notes.push(format!("actuator {name} is left out: {why}"));
                        None
                    }
                }
            })
            .collect();
        driven
    }

    fn actuator(&mut self, actuator: &Actuator) -> Result<Driven, String> {
        let joint = actuator.joint.as_deref().ok_or("it drives no joint")?;
        let found = self.model.joint_by_name(joint).and_then(|(body, at)| self.coordinate(body, at));
        let Some((link, zero)) = found else {
            return Err(format!("`{joint}` is no hinge and no slide"));
        };
        let gear = actuator.gear[0];
        if gear == 0.0 || !gear.is_finite() {
            return Err("its gear is 0".to_owned());
        }
        let (mode, stiffness, damping, gain) = law(actuator)?;
        let limited = |range: Option<[f64; 2]>, limited: mjcf_rs::Tristate| {
            let limits = limited.resolve(self.model.compiler.autolimits, range.is_some());
            range.filter(|_| limits).map(|[low, high]| low.abs().max(high.abs()))
        };
        let force = limited(actuator.force_range, actuator.force_limited);
        let control = limited(actuator.ctrl_range, actuator.ctrl_limited);
        let by_control = control.filter(|_| mode == MotorMode::Effort).map(|most| most * gain.abs());
        let most = force.into_iter().chain(by_control).fold(f64::INFINITY, f64::min) * gear.abs();
        let motor = Motor {
            mode,
            stiffness: (stiffness * gear * gear) as f32,
            damping: (damping * gear * gear) as f32,
            effort_max: if most.is_finite() { most as f32 } else { f32::MAX },
        };
        if control.is_some() && mode != MotorMode::Effort {
            self.plan.notes.push("`ctrlrange` of position and velocity actuators is not enforced");
        }
        let Some(Hold::Joint { joint: there, .. }) = self.plan.links.get_mut(link).map(|link| &mut link.hold)
        else {
            return Err(format!("`{joint}` is no hinge and no slide"));
        };
        if there.motor.is_some() {
            return Err(format!("`{joint}` has one already"));
        }
        there.motor = Some(motor);
        Ok(Driven { link, mode, gear, zero, gain })
    }

    /// The link of a joint with one coordinate, and the position where ours is 0.
    fn coordinate(&self, body: usize, at: usize) -> Option<(usize, f64)> {
        let last = self.links.get(body).copied().flatten()?;
        let after = self.model.bodies[body].body.joints.len().checked_sub(at + 1)?;
        let wanted = last.checked_sub(after)?;
        self.coordinates.iter().find_map(|coordinate| match coordinate {
            Coordinate::One { zero, link } if *link == wanted => Some((*link, *zero)),
            _ => None,
        })
    }
}

/// What an actuator pushes: its mode, stiffness and damping, and what an input of 1 pushes.
fn law(actuator: &Actuator) -> Result<(MotorMode, f64, f64, f64), String> {
    let number = |list: &[f64], at: usize| list.get(at).copied().unwrap_or_default();
    let is = |number: f64, wanted: f64| (number - wanted).abs() <= 1e-9 * wanted.abs();
    let kv = actuator.kv;
    Ok(match actuator.kind {
        ActuatorKind::Motor => (MotorMode::Effort, 0.0, 0.0, 1.0),
        ActuatorKind::Position => (MotorMode::Position, actuator.kp.unwrap_or(1.0), kv.unwrap_or(0.0), 1.0),
        ActuatorKind::Velocity => (MotorMode::Velocity, 0.0, kv.unwrap_or(1.0), 1.0),
        ActuatorKind::General => {
            let gain = actuator.gainprm.first().copied().unwrap_or(1.0);
            let fixed = actuator.gain_type.as_deref().is_none_or(|kind| kind == "fixed");
            let affine = actuator.bias_type.as_deref() == Some("affine");
            let (spring, damper) = (-number(&actuator.biasprm, 1), -number(&actuator.biasprm, 2));
            match (fixed, affine) {
                (false, _) => return Err("its gain is not fixed".to_owned()),
                (true, false) => (MotorMode::Effort, 0.0, 0.0, gain),
                (true, true) if is(spring, gain) => (MotorMode::Position, spring, damper, gain),
                (true, true) if spring == 0.0 && is(damper, gain) => (MotorMode::Velocity, 0.0, damper, gain),
                (true, true) => return Err("its bias makes it neither a spring nor a damper".to_owned()),
            }
        }
        ActuatorKind::IntVelocity | ActuatorKind::Damper | ActuatorKind::Other => {
            return Err("such actuators are not supported".to_owned());
        }
    })
}
