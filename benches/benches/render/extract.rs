//! What it costs main to show 10,000 things: their poses between two steps, a packet of them, and its submit; against
//! a copy of as many bytes.
//!
//! The packets come back once they are drawn, so that no frame allocates. What draws them is not timed.

use std::hint::black_box;
use std::sync::Arc;

use downbeat_benches::{Contestant, Counted, Figure, Stopwatch, Suite, race};
use downbeat_render::ThreadingPolicy::SingleThreaded;
use downbeat_render::{
    Backend, BackendLost, FramePacket, Instance, Material, Pose, RenderConfig, RenderThread, Shape,
};
use downbeat_threading::sync::Mutex;
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
use glam::{Quat, Vec3};

pub(crate) const OURS: Counted = Counted { name: "extract/ours", run: count_ours };

const BENCHES: [&str; 2] = ["render/extract_10k", "render/extract_allocations"];
const THINGS: u32 = 10_000;
const ALPHA: f32 = 0.3;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    let [extract, allocations] = BENCHES;
    if suite.wants(extract) {
        let boot = Boot::claim()?;
        let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
        let mut ours = Extraction::new(&dispatcher)?;
        let from = ours.things.iter().map(Thing::instance).collect();
        let mut copy = Copy { to: Vec::clone(&from), from };
        let contestants = vec![
            Contestant::timed_within("ours", move |watch| ours.frame(watch)),
            Contestant::timed_within("memcpy of the bytes", move |watch| copy.frame(watch)),
        ];
        let results = race(1, contestants)?;
        suite.print(&Figure::of_race(extract, "ns", results[0], &results[1..]))?;
    }
    if suite.wants(allocations) && suite.can_count()? {
        suite.print(&Figure::new(allocations, "allocations/frame", OURS.allocations_per_unit(100)?))?;
    }
    Ok(())
}

fn count_ours(frames: u64) {
    let boot = Boot::claim().expect("this process claims main once");
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let mut ours = Extraction::new(&dispatcher).expect("main renders");
    (0..frames).for_each(|_| _ = ours.frame(&mut Stopwatch::default()));
}

/// What a simulation knows of a thing: where it was one step ago, where it is, and its looks.
struct Thing {
    before: Pose,
    current: Pose,
    shape: Shape,
    material: Material,
    object: u32,
}

impl Thing {
    fn new(object: u32) -> Self {
        let turn = |angle| Quat::from_rotation_y(object as f32 * 0.1) * Quat::from_rotation_z(angle);
        let at = Vec3::new(object as f32, 1.0, -2.0);
        Self {
            before: Pose { translation: at, rotation: turn(0.0) },
            current: Pose { translation: at + Vec3::X * 0.1, rotation: turn(0.05) },
            shape: match object % 3 {
                0 => Shape::Box { half: Vec3::splat(0.5) },
                1 => Shape::Sphere { radius: 0.5 },
                _ => Shape::Capsule { radius: 0.2, half_length: 0.4 },
            },
            material: Material::default(),
            object,
        }
    }

    #[inline]
    fn instance(&self) -> Instance {
        Instance {
            world_from_object: Pose::between(&self.before, &self.current, ALPHA),
            shape: self.shape,
            material: self.material,
            object: self.object,
        }
    }
}

/// Looks at packets and gives them back.
#[derive(Default)]
struct Screen {
    proof: Arc<Mutex<u64>>,
    drawn: Arc<Mutex<Vec<FramePacket>>>,
}

impl Backend for Screen {
    fn begin_frame(&mut self, _number: u64) {}

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        Ok(())
    }
}

/// Main's side of a frame.
struct Extraction<'a> {
    dispatcher: &'a MainThreadDispatcher,
    render: RenderThread<Screen>,
    things: Vec<Thing>,
    proof: Arc<Mutex<u64>>,
    drawn: Arc<Mutex<Vec<FramePacket>>>,
}

impl<'a> Extraction<'a> {
    fn new(dispatcher: &'a MainThreadDispatcher) -> anyhow::Result<Self> {
        let screen = Screen::default();
        let (proof, drawn) = (Arc::clone(&screen.proof), Arc::clone(&screen.drawn));
        let config = RenderConfig { policy: SingleThreaded, ..RenderConfig::default() };
        let render = RenderThread::start(dispatcher, screen, config)?;
        Ok(Self { dispatcher, render, things: (1..=THINGS).map(Thing::new).collect(), proof, drawn })
    }

    fn frame(&mut self, watch: &mut Stopwatch) -> u64 {
        watch.time(|| self.extract());
        self.render.kick(self.dispatcher).expect("no command fails");
        *self.proof.lock()
    }

    #[inline(never)]
    fn extract(&self) {
        let mut packet = self.drawn.lock().pop().unwrap_or_default();
        packet.clear();
        packet.instances.extend(self.things.iter().map(Thing::instance));
        self.render.renderer().submit(move |screen| {
            *screen.proof.lock() = proof(&packet.instances);
            screen.drawn.lock().push(packet);
        });
    }
}

/// The floor: the same bytes, ready made.
struct Copy {
    from: Vec<Instance>,
    to: Vec<Instance>,
}

impl Copy {
    fn frame(&mut self, watch: &mut Stopwatch) -> u64 {
        watch.time(|| self.to.copy_from_slice(black_box(&self.from)));
        proof(&self.to)
    }
}

fn proof(instances: &[Instance]) -> u64 {
    instances.iter().fold(0, |sum, instance| {
        let pose = &instance.world_from_object;
        let of_pose = pose.translation.x.to_bits() ^ pose.rotation.z.to_bits();
        sum + u64::from(instance.object) + u64::from(of_pose)
    })
}
