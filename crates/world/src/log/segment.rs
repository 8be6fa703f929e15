//! Segments: the files that a log's frames are in. A segment gets its full length when it is made, so that one that was
//! cut off later is known by its length, and is trimmed when it ends.
//!
//! Layout: eight bytes of mark, the format's version (u32), four zeros, the length that it was made with (u64), the
//! CRC32C of these (u32), four zeros; then frames. Numbers are little-endian. The first frame holds
//! [`Entry::Opened`], the last [`Entry::Closed`], unless a crash came before.

use super::LogError;
use super::entry::{COUNT_MAX, Entry, Opening};
use super::frame::{self, Link, NoFrame};

/// The version that this build writes.
pub const LOG_VERSION: u32 = 1;

const MARK: [u8; 8] = *b"DBTLOG\r\n";
pub(crate) const HEAD_LEN: usize = 32;
const CHECKED_LEN: usize = 24;

/// The name of a segment's file.
pub(crate) fn file_name(number: u64) -> String {
    format!("segment-{number:08}.log")
}

/// The number of the segment that a file of this name is.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("segment-")?.strip_suffix(".log")?.parse().ok()?;
    (number < COUNT_MAX && file_name(number) == name).then_some(number)
}

/// The first bytes of a segment.
pub(crate) fn head(allotted: u64) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    head[..8].copy_from_slice(&MARK);
    head[8..12].copy_from_slice(&LOG_VERSION.to_le_bytes());
    head[16..24].copy_from_slice(&allotted.to_le_bytes());
    let check = crc32c::crc32c(&head[..CHECKED_LEN]);
    head[24..28].copy_from_slice(&check.to_le_bytes());
    head
}

/// What a segment came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scanned {
    pub(crate) opening: Opening,
    /// What its first frame is tied to.
    pub(crate) first: Link,
    /// What the next frame is tied to.
    pub(crate) link: Link,
    /// Where the last whole frame ends.
    pub(crate) end: u64,
    pub(crate) end_state: EndState,
}

/// How a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndState {
    /// As it should: with an entry that says so, and nothing behind it.
    Closed,
    /// With an entry that says so, but not trimmed yet.
    Untrimmed,
    /// It was being written when the process ended, between two commits.
    Open,
    /// It was being written when the process ended, in the middle of a commit. So many bytes are of no use.
    Torn(u64),
}

/// Reads a segment and hands each entry to `each`, with the offset of its frame. `link` is what its first frame must be
/// tied to; `None` for the first segment that is there, which says so itself.
pub(crate) fn scan(
    name: &str,
    bytes: &[u8],
    link: Option<Link>,
    each: &mut dyn FnMut(u64, Entry) -> Result<(), LogError>,
) -> Result<Scanned, LogError> {
    let damaged = |offset: usize, what: &str| LogError::Damaged {
        file: name.to_owned(),
        offset: offset as u64,
        what: what.to_owned(),
    };
    let allotted = read_head(name, bytes)?;
    let mut link = match link {
        Some(link) => link,
        None => first_link(bytes).ok_or_else(|| damaged(HEAD_LEN, "it has no first commit"))?,
    };
    let first = link;
    let (mut at, mut opening, mut closed) = (HEAD_LEN, None, false);
    let stop = loop {
        if closed {
            break NoFrame::Blank;
        }
        let frame = match frame::read(&bytes[at..], link) {
            Ok(frame) => frame,
            Err(stop) => break stop,
        };
        let entries = Entry::read_all(frame.content)
            .map_err(|error| damaged(at, &format!("a commit that cannot be read: {error}")))?;
        for entry in entries {
            match (&entry, &opening) {
                (Entry::Opened(opened), None) => opening = Some(opened.clone()),
                (Entry::Opened(_), Some(_)) => return Err(damaged(at, "it begins twice")),
                (_, None) => return Err(damaged(at, "it does not begin with its opening")),
                (Entry::Closed, _) => closed = true,
                _ if closed => return Err(damaged(at, "it goes on behind its end")),
                _ => {}
            }
            each(at as u64, entry)?;
        }
        (link, at) = (frame.next, at + frame.len);
    };
    let Some(opening) = opening else {
        return Err(damaged(HEAD_LEN, "its first commit is not whole"));
    };
    let is_full = bytes.len() as u64 == allotted;
    let end_state = match stop {
        NoFrame::Damaged(what) => return Err(damaged(at, what)),
        _ if closed && bytes.len() == at => EndState::Closed,
        _ if closed && is_full => EndState::Untrimmed,
        _ if closed => return Err(damaged(at, "there is more behind its end")),
        _ if !is_full => {
            return Err(damaged(
                bytes.len(),
                &format!("it ends here, and it was made {allotted} bytes long"),
            ));
        }
        NoFrame::Blank => EndState::Open,
        NoFrame::Torn => EndState::Torn(used(&bytes[at..])),
    };
    Ok(Scanned { opening, first, link, end: at as u64, end_state })
}

/// The length that the segment was made with.
fn read_head(name: &str, bytes: &[u8]) -> Result<u64, LogError> {
    let file = || name.to_owned();
    let foreign = |what: &str| LogError::Damaged { file: file(), offset: 0, what: what.to_owned() };
    let Some(head) = bytes.first_chunk::<HEAD_LEN>() else {
        return Err(foreign("it is cut off in its head"));
    };
    if head[..8] != MARK {
        return Err(foreign("it does not begin like a segment"));
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if crc32c::crc32c(&head[..CHECKED_LEN]) != word(24) || word(12) != 0 || word(28) != 0 {
        return Err(foreign("the check sum of its head does not fit"));
    }
    let version = word(8);
    if version != LOG_VERSION {
        return Err(LogError::OtherFormat { file: file(), found: version });
    }
    Ok(u64::from(word(16)) | u64::from(word(20)) << 32)
}

/// What the first frame says that it is tied to.
fn first_link(bytes: &[u8]) -> Option<Link> {
    let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(HEAD_LEN + at..)?.first_chunk()?));
    Some(Link { number: word(8)?, chain: word(16)? })
}

/// Bytes up to the last one that is not zero.
fn used(bytes: &[u8]) -> u64 {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1)
}
