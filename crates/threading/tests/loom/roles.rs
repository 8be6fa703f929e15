//! Roles belong to a thread, for a scope.

use downbeat_threading::{Boot, Role, RoleScope, is_main_thread, is_render_thread, roles, spawn};

use downbeat_threading::sync::model::Schedules::All;
use downbeat_threading::sync::model::check;

#[test]
fn no_thread_sees_the_role_of_another() {
    check("no_thread_sees_the_role_of_another", All, || {
        let boot = Boot::claim().unwrap();
        // The single-threaded policy: main is the render thread as well.
        let render = RoleScope::enter(Role::Render);
        let worker = spawn("worker", Role::Worker, || {
            assert_eq!(roles().to_string(), "Worker");
            assert!(!is_main_thread() && !is_render_thread());
        })
        .unwrap();
        assert_eq!(roles().to_string(), "Main + Render");
        worker.join().unwrap();
        drop(render);
        assert_eq!(roles().to_string(), "Main");
        drop(boot);
        assert!(roles().is_empty());
    });
}
