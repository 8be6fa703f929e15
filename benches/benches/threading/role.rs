//! What a role check costs on a hot path, in instructions: the check and its branch, without the loop around it.

use std::hint::black_box;

use downbeat_benches::{Counted, Figure, Suite};
use downbeat_threading::{Boot, Role, assert_role, is_main_thread};

const CHECKS: u64 = 10_000;

pub(crate) const CHECK: Counted = Counted { name: "role/check", run: count_checks };
pub(crate) const ASSERT: Counted = Counted { name: "role/assert", run: count_asserts };
pub(crate) const NOTHING: Counted = Counted { name: "role/nothing", run: count_nothing };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    for (bench, counted) in [("threading/role_check", CHECK), ("threading/role_assert", ASSERT)] {
        if suite.wants(bench) && suite.can_count()? {
            let loop_alone = NOTHING.per_unit(CHECKS)?;
            let figure = Figure::new(bench, "instructions", counted.per_unit(CHECKS)? - loop_alone);
            suite.print(&figure)?;
        }
    }
    Ok(())
}

fn count_checks(checks: u64) {
    let _boot = Boot::claim().expect("this process claims main once");
    repeat(checks, || {
        if !is_main_thread() {
            not_main();
        }
    });
}

fn count_asserts(checks: u64) {
    let _boot = Boot::claim().expect("this process claims main once");
    repeat(checks, || assert_role(Role::Main));
}

fn count_nothing(checks: u64) {
    let _boot = Boot::claim().expect("this process claims main once");
    repeat(checks, || ());
}

#[inline]
fn repeat(times: u64, work: impl Fn()) {
    for time in 0..times {
        work();
        // The compiler must take it that the thread's roles may have changed here.
        black_box(time);
    }
}

#[cold]
fn not_main() {
    panic!("the thread has booted, so it is main");
}
