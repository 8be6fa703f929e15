//! A window with a small moving scene; the same code draws on main or on a render thread.
//!
//! `cargo run --release -p downbeat-examples --example window -- [--policy single|multi] [--frames N]`. What moves is a
//! function of the frame's number, so the same frame is the same picture on every run.

use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use downbeat_render::{
    Camera, Captured, FramePacket, GpuBackend, GpuError, Instance, Material, Pose, Presented, RenderConfig,
    RenderThread, Shape, ThreadingPolicy, WindowConfig,
};
use downbeat_threading::sync::Mutex;
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
use downbeat_time::Clock;
use glam::{Quat, Vec2, Vec3};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window, WindowAttributes, WindowId};

/// Frame times kept for the summary; older ones are forgotten.
const TIMES_MAX: usize = 10_000;

/// Shows a small moving scene in a window.
#[derive(Parser)]
struct Options {
    /// Which thread draws: main itself, or one of its own.
    #[arg(long, value_enum, default_value = "multi")]
    policy: Policy,
    /// End after this many frames, instead of when the window is closed.
    #[arg(long)]
    frames: Option<u64>,
    /// Stay at the last frame until the window is closed.
    #[arg(long, requires = "frames")]
    hold: bool,
    /// Go on with a new device at this frame, as after the loss of one.
    #[arg(long, value_name = "FRAME")]
    rebuild_at: Option<u64>,
    /// The window's first size, in pixels.
    #[arg(long, default_value = "960x600", value_parser = size_of)]
    size: (u32, u32),
    /// Save the last frame as a picture.
    #[arg(long, value_name = "FILE.png")]
    shot: Option<PathBuf>,
    /// Draw without a window, only for the picture.
    #[arg(long, requires = "shot")]
    offscreen: bool,
    /// Do not wait for the screen.
    #[arg(long)]
    no_vsync: bool,
    /// Print a line of JSON for each frame.
    #[arg(long)]
    events: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    Single,
    Multi,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    if options.offscreen {
        let backend = GpuBackend::offscreen()?;
        let render = RenderThread::start(&dispatcher, backend, render_config(options.policy))?;
        let (width, height) = options.size;
        let last = options.frames.unwrap_or(0);
        finish(render, &dispatcher, options.shot.as_deref(), last, PhysicalSize { width, height })?;
        return Ok(());
    }
    let events =
        EventLoop::new().map_err(|error| format!("there is no display to open a window on: {error}"))?;
    events.set_control_flow(ControlFlow::Poll);
    let mut app = App { options, dispatcher, shown: None, outcome: Ok(()) };
    events.run_app(&mut app)?;
    app.outcome
}

struct App {
    options: Options,
    dispatcher: MainThreadDispatcher,
    /// From the first `resumed` until the end.
    shown: Option<Shown>,
    outcome: Result<(), Box<dyn Error>>,
}

/// What there is while the window is open.
struct Shown {
    /// Ends before the window: it holds the surface.
    render: RenderThread<GpuBackend>,
    window: Arc<Window>,
    /// What the thread that renders has told.
    presented: Arc<Mutex<Presented>>,
    frame: u64,
    clock: Clock,
    times: VecDeque<Duration>,
    last: Duration,
}

impl ApplicationHandler for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_none() {
            let opened = Shown::open(events, &self.options, &self.dispatcher);
            self.outcome = opened.map(|shown| self.shown = Some(shown));
        }
        if self.outcome.is_err() {
            events.exit();
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match event {
            WindowEvent::Resized(size) => shown.resize(size),
            WindowEvent::RedrawRequested => {
                let drawn = shown.draw(&self.options, &self.dispatcher);
                let is_last = !self.options.hold && self.options.frames.is_some_and(|max| shown.frame >= max);
                if drawn.is_err() || is_last {
                    self.outcome = drawn;
                    self.close(events);
                }
            }
            WindowEvent::CloseRequested => self.close(events),
            _ => {}
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let Some(shown) = &self.shown else { return };
        // Nothing to draw while it is minimised: wait for what happens next instead of turning in circles.
        let PhysicalSize { width, height } = shown.window.inner_size();
        if width == 0 || height == 0 {
            return events.set_control_flow(ControlFlow::Wait);
        }
        events.set_control_flow(ControlFlow::Poll);
        shown.window.request_redraw();
    }
}

impl App {
    /// The surface, then the window, then the loop.
    fn close(&mut self, events: &ActiveEventLoop) {
        events.exit();
        let Some(shown) = self.shown.take() else { return };
        let Shown { render, window, frame, times, .. } = shown;
        let shot = self.options.shot.as_deref();
        match finish(render, &self.dispatcher, shot, frame, window.inner_size()) {
            Ok(presented) => print_summary(presented, times.into()),
            // What went wrong first is the reason for what went wrong at the end.
            Err(error) if self.outcome.is_ok() => self.outcome = Err(error),
            Err(_) => {}
        }
    }
}

impl Shown {
    fn open(
        events: &ActiveEventLoop,
        options: &Options,
        dispatcher: &MainThreadDispatcher,
    ) -> Result<Self, Box<dyn Error>> {
        let (width, height) = options.size;
        let attributes = WindowAttributes::default()
            .with_title("Downbeat")
            .with_inner_size(PhysicalSize { width, height });
        let window = Arc::new(events.create_window(attributes)?);
        let backend = backend_for(&window, options)?;
        println!("drawing with {}", backend.adapter_name());
        let render = RenderThread::start(dispatcher, backend, render_config(options.policy))?;
        let (clock, presented) = (Clock::system(), Arc::default());
        let last = clock.elapsed();
        Ok(Self { render, window, presented, frame: 0, clock, times: VecDeque::new(), last })
    }

    /// On its way to the thread that renders, ahead of the frames of this size.
    fn resize(&self, size: PhysicalSize<u32>) {
        self.render.renderer().submit(move |gpu| gpu.resize([size.width, size.height]));
    }

    fn draw(&mut self, options: &Options, dispatcher: &MainThreadDispatcher) -> Result<(), Box<dyn Error>> {
        let is_still = options.frames.is_some_and(|max| self.frame >= max);
        self.frame += u64::from(!is_still);
        if options.rebuild_at == Some(self.frame) && !is_still {
            self.render.rebuild(dispatcher, backend_for(&self.window, options)?)?;
        }
        let (packet, camera) = (scene(self.frame), camera(self.window.inner_size()));
        let presented = Arc::clone(&self.presented);
        self.render.renderer().submit(move |gpu| {
            *presented.lock() = gpu.presented();
            gpu.present(&packet, &camera).expect("a picture of the window's size can be drawn");
        });
        self.render.kick(dispatcher)?;

        let now = self.clock.elapsed();
        let took = now - std::mem::replace(&mut self.last, now);
        self.times.truncate(TIMES_MAX - 1);
        self.times.push_front(took);
        if options.events {
            let Presented { shown, skipped, configured, size: [width, height] } = *self.presented.lock();
            let frame = self.frame;
            println!(
                r#"{{"frame":{frame},"shown":{shown},"skipped":{skipped},"configured":{configured},"size":[{width},{height}]}}"#
            );
        }
        Ok(())
    }
}

fn print_summary(presented: Presented, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len().saturating_sub(1) * percent / 100).copied();
    let millis = |percent| at(percent).unwrap_or_default().as_secs_f64() * 1e3;
    let (median, slow, worst) = (millis(50), millis(99), millis(100));
    let Presented { shown, skipped, .. } = presented;
    println!(
        "{shown} frames shown, {skipped} skipped; frame time: median {median:.2} ms, 99 % under {slow:.2} ms, \
             worst {worst:.2} ms"
    );
}

fn backend_for(window: &Arc<Window>, options: &Options) -> Result<GpuBackend, GpuError> {
    let PhysicalSize { width, height } = window.inner_size();
    let config = WindowConfig { size: [width, height], vsync: !options.no_vsync };
    GpuBackend::for_window(Arc::clone(window), config)
}

fn render_config(policy: Policy) -> RenderConfig {
    let policy = match policy {
        Policy::Single => ThreadingPolicy::SingleThreaded,
        Policy::Multi => ThreadingPolicy::MultiThreaded,
    };
    RenderConfig { policy, ..RenderConfig::default() }
}

/// Takes the picture if one is wanted, ends the rendering and drops the backend here, on main.
///
/// Returns what became of the frames.
fn finish(
    render: RenderThread<GpuBackend>,
    dispatcher: &MainThreadDispatcher,
    shot: Option<&Path>,
    frame: u64,
    size: PhysicalSize<u32>,
) -> Result<Presented, Box<dyn Error>> {
    let picture = Arc::new(Mutex::new(None));
    if shot.is_some() {
        let (packet, camera, taken) = (scene(frame), camera(size), Arc::clone(&picture));
        render.renderer().submit(move |gpu| {
            let drawn = gpu.capture(&packet, &camera, move |captured| *taken.lock() = Some(captured));
            drawn.expect("a picture of the window's size can be drawn");
            gpu.wait_for_pictures();
        });
    }
    let presented = render.shut_down(dispatcher)?.presented();
    if let Some(path) = shot {
        let picture = picture.lock().take().ok_or("the picture did not come back")?;
        write(path, &picture?)?;
    }
    Ok(presented)
}

fn camera(size: PhysicalSize<u32>) -> Camera {
    Camera::perspective(size.width, size.height, 0.7)
        .looking_at(Vec3::new(3.6, -5.2, 2.9), Vec3::new(0.0, 0.0, 0.6))
}

/// A box that turns, a ball that bounces and a capsule that goes round them, sixty frames to a second.
fn scene(frame: u64) -> FramePacket {
    let seconds = frame as f32 / 60.0;
    let mut packet = FramePacket { grid: true, ..FramePacket::default() };
    let mut put = |shape, pose, colour: [f32; 3], metallic, roughness| {
        let material = Material { base_colour: colour.into(), metallic, roughness };
        let object = packet.instances.len() as u32;
        packet.instances.push(Instance { world_from_object: pose, shape, material, object });
    };
    let floor = Pose::at(Vec3::Z * -0.002);
    put(Shape::Plane { half: Vec2::splat(40.0) }, floor, [0.42, 0.43, 0.45], 0.0, 0.9);

    let turned = Quat::from_rotation_z(1.2 * seconds);
    let pose = Pose { translation: Vec3::new(-1.0, 0.0, 0.5), rotation: turned };
    put(Shape::Box { half: Vec3::splat(0.5) }, pose, [0.85, 0.3, 0.16], 0.0, 0.5);

    // From 1.2 m it takes as long down as up, and loses nothing.
    let bounce = 2.0 * (seconds.fract() - 0.5);
    let ball = Vec3::new(0.9, 0.2, 0.4 + 1.2 * (1.0 - bounce * bounce));
    put(Shape::Sphere { radius: 0.4 }, Pose::at(ball), [0.95, 0.78, 0.42], 1.0, 0.25);

    let round = Quat::from_rotation_z(0.7 * seconds);
    let pose = Pose { translation: round * Vec3::new(0.0, -1.9, 0.0) + Vec3::Z * 0.25, rotation: round };
    let lying = Pose { rotation: pose.rotation * Quat::from_rotation_y(std::f32::consts::FRAC_PI_2), ..pose };
    put(Shape::Capsule { radius: 0.25, half_length: 0.4 }, lying, [0.2, 0.6, 0.32], 0.0, 0.3);
    packet
}

fn write(path: &Path, picture: &Captured) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(picture.colour.as_flattened())?;
    Ok(())
}

/// `WIDTHxHEIGHT`.
fn size_of(text: &str) -> Result<(u32, u32), String> {
    let sides =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    sides
        .filter(|(width, height)| (1..=16_384).contains(width) && (1..=16_384).contains(height))
        .ok_or_else(|| format!("`{text}` is no size; write `WIDTHxHEIGHT` in pixels, each from 1 to 16384"))
}
