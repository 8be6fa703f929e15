//! Logs: any bytes as a segment, and as the content of a commit with its frame and check sum made right, so that what is
//! behind the check sums is reached. What can be read is played.

#![no_main]

use std::io;
use std::sync::OnceLock;

use downbeat_world::{
    Entry, History, Opening, Player, Pose, Registry, RunIdentity, Scene, SnapshotRef, Storage, StorageFile,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

libfuzzer_sys::fuzz_target!(init: downbeat_fuzz::start(), |input: &[u8]| downbeat_fuzz::run(input, |input| {
    read(input.to_vec());
    read(sealed(input));
}));

const SEGMENT: &str = "segment-00000001.log";

/// Reads a log of one segment, and plays it.
fn read(segment: Vec<u8>) {
    let folder = Folder { segment, snapshot: start() };
    let Ok((history, damage)) = History::read_what_can_be(&folder) else { return };
    if damage.is_some() {
        return;
    }
    history
        .for_each_written(&folder, 0, |_, _| Ok(std::ops::ControlFlow::Continue(())))
        .expect("it was read before");
    let Ok(mut player) = Player::over(folder, Registry::builtin()) else { return };
    let _ = player.verify(|_| ());
}

/// A snapshot to start from.
fn start() -> &'static [u8] {
    static START: OnceLock<Vec<u8>> = OnceLock::new();
    START.get_or_init(|| {
        let mut scene = Scene::new("fuzz", 1, Registry::builtin());
        scene.world_mut().spawn("cup", Pose::IDENTITY);
        scene.save().expect("a scene without solvers can be saved")
    })
}

/// A segment whose first commit opens it and names the snapshot, and whose second one is the input.
fn sealed(input: &[u8]) -> Vec<u8> {
    let run = RunIdentity {
        scene: "fuzz".to_owned(),
        seed: 1,
        start: [0; 8],
        engine: "fuzz".to_owned(),
        features: Vec::new(),
    };
    let opening = Entry::Opened(Opening { segment: 1, position: 0, build: "fuzz".to_owned(), run });
    let hash = xxh3_64(start()).to_le_bytes();
    let len = start().len() as u64;
    let snapshot = Entry::Snapshot(SnapshotRef { step: 0, now_nanos: 0, position: 1, len, hash });
    let first =
        [&opening, &snapshot].map(|entry| postcard::to_stdvec(entry).expect("entries have a form")).concat();
    let closed = postcard::to_stdvec(&Entry::Closed).expect("entries have a form");
    let mut bytes = [0; 32].to_vec();
    let mut chain = 0;
    for (number, content) in [&first, input, &closed].into_iter().enumerate() {
        let frame = frame(number as u64, chain, content);
        chain = xxh3_64_with_seed(&frame, chain);
        bytes.extend(frame);
    }
    bytes[..12].copy_from_slice(b"DBTLOG\r\n\x01\0\0\0");
    let allotted = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&allotted.to_le_bytes());
    let check = crc32c::crc32c(&bytes[..24]);
    bytes[24..28].copy_from_slice(&check.to_le_bytes());
    bytes
}

fn frame(number: u64, chain: u64, content: &[u8]) -> Vec<u8> {
    let mut frame = 0x5AF1_D8B7_u32.to_le_bytes().to_vec();
    frame.extend((content.len() as u32).to_le_bytes());
    frame.extend(number.to_le_bytes());
    frame.extend(chain.to_le_bytes());
    frame.extend(content);
    frame.resize(frame.len().next_multiple_of(8), 0);
    frame.extend(crc32c::crc32c(&frame).to_le_bytes());
    frame.extend(0xB7E3_4C5D_u32.to_le_bytes());
    frame
}

/// A folder with one segment and one snapshot, which nobody writes.
struct Folder {
    segment: Vec<u8>,
    snapshot: &'static [u8],
}

struct NoFile;

impl Storage for Folder {
    type File = NoFile;

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(vec![SEGMENT.to_owned(), "step-000000000000-1.snap".to_owned()])
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(if name == SEGMENT { self.segment.clone() } else { self.snapshot.to_vec() })
    }

    fn create(&self, _: &str) -> io::Result<NoFile> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn open(&self, _: &str) -> io::Result<NoFile> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

impl StorageFile for NoFile {
    fn write_at(&mut self, _: u64, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn set_len(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}
