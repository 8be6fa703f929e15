//! A graphics device that is really gone, and the pictures that were on their way.

use std::sync::Arc;

use downbeat_render::{
    Camera, Captured, FramePacket, GpuBackend, GpuError, RenderConfig, RenderError, RenderState,
    RenderThread, Renderer, Shape,
};
use downbeat_threading::sync::Mutex;
use glam::Vec3;

use crate::booted::{BOTH, booted};
use crate::quiet::{ON_PURPOSE, quiet_panics};
use crate::{capture, device, instance};

/// What became of a picture; `None` if nobody has said.
type Answer = Arc<Mutex<Option<Result<Captured, GpuError>>>>;

fn scene() -> (FramePacket, Camera) {
    let mut packet = FramePacket { grid: true, ..FramePacket::default() };
    packet.instances.push(instance(1, Shape::Sphere { radius: 0.8 }, Vec3::Z));
    packet.label(Vec3::Z * 2.0, "again");
    (packet, Camera::perspective(90, 60, 0.8).looking_at(Vec3::new(1.0, -5.0, 2.0), Vec3::Z))
}

fn ask(gpu: &mut GpuBackend) -> Answer {
    let (packet, camera) = scene();
    let answer = Answer::default();
    let delivered = Arc::clone(&answer);
    if let Err(error) = gpu.capture(&packet, &camera, move |picture| *delivered.lock() = Some(picture)) {
        *answer.lock() = Some(Err(error));
    }
    answer
}

/// As [`ask`], in a command.
fn submit_ask(renderer: &Renderer<GpuBackend>) -> Arc<Mutex<Option<Answer>>> {
    let asked = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&asked);
    renderer.submit(move |gpu| *inside.lock() = Some(ask(gpu)));
    asked
}

fn answer_of(asked: &Mutex<Option<Answer>>) -> Result<Captured, GpuError> {
    let asked = asked.lock().take().expect("the command ran");
    let answer = asked.lock().take();
    answer.expect("whoever asks for a picture is answered")
}

#[test]
fn a_lost_device_is_reported_and_another_draws_the_same_picture() {
    for policy in BOTH {
        let (Some(first), Some(second)) = (device(), device()) else { return };
        let main = booted();
        let config = RenderConfig { policy, ..RenderConfig::default() };
        let mut render = RenderThread::start(&main, first, config).unwrap();
        let renderer = render.renderer();
        let before = submit_ask(&renderer);
        renderer.submit(GpuBackend::wait_for_pictures);
        render.pump(&main).unwrap();
        let before = answer_of(&before).unwrap();

        let on_its_way = submit_ask(&renderer);
        renderer.submit(|gpu| gpu.lose_device());
        let too_late = submit_ask(&renderer);
        let error = render.pump(&main).unwrap_err();
        assert!(matches!(&error, RenderError::Lost(_)), "{policy:?}: {error}");
        assert!(error.to_string().contains("rebuild the backend"), "{error}");
        // It may have come in time; what matters is that nobody waits for it any more.
        match answer_of(&on_its_way) {
            Ok(picture) => assert_eq!(picture, before),
            Err(error) => assert!(matches!(error, GpuError::Lost(_)), "{error}"),
        }
        let error = answer_of(&too_late).unwrap_err();
        assert!(matches!(error, GpuError::Lost(_)), "{error}");

        assert_eq!(render.state(), RenderState::Dropping);
        let dropped = submit_ask(&renderer);
        render.pump(&main).expect("reported once");
        assert_eq!(Arc::strong_count(&dropped), 1, "the command went with its frame");

        render.rebuild(&main, second).unwrap();
        let after = submit_ask(&renderer);
        renderer.submit(GpuBackend::wait_for_pictures);
        render.pump(&main).unwrap();
        assert_eq!(answer_of(&after).unwrap(), before, "{policy:?}");
        drop(render.shut_down(&main).unwrap());
    }
}

#[test]
fn waiting_for_pictures_of_a_lost_device_ends() {
    let Some(mut gpu) = device() else { return };
    let answers: Vec<Answer> = (0..3).map(|_| ask(&mut gpu)).collect();
    gpu.lose_device();
    gpu.wait_for_pictures();
    assert!(answers.iter().all(|answer| answer.lock().is_some()));
    let refused = gpu.capture(&scene().0, &scene().1, |_| panic!("refused, so not delivered"));
    assert!(matches!(refused, Err(GpuError::Lost(_))), "{refused:?}");
}

#[test]
fn pictures_on_their_way_when_the_backend_is_dropped_are_answered() {
    let Some(mut gpu) = device() else { return };
    quiet_panics();
    let (packet, camera) = scene();
    gpu.capture(&packet, &camera, |_| panic!("{ON_PURPOSE}")).unwrap();
    let answer = ask(&mut gpu);
    drop(gpu);
    let answer = answer.lock().take().expect("answered");
    assert!(matches!(answer, Err(GpuError::Dropped)), "{answer:?}");
}

#[test]
fn one_device_may_go_while_another_draws() {
    let (Some(lost), Some(mut gpu)) = (device(), device()) else { return };
    let (packet, camera) = scene();
    let before = capture(&mut gpu, &packet, &camera);
    lost.lose_device();
    drop(lost);
    assert_eq!(capture(&mut gpu, &packet, &camera), before);
}
