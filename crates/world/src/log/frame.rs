//! Frames: one commit each, whole or not at all. What a frame holds is not known here.
//!
//! Layout, numbers little-endian: mark (u32), length of the content (u32), number of the frame in its log (u64), chain
//! before it (u64), content, zeros up to a multiple of eight, CRC32C of everything so far (u32), end mark (u32). Frames
//! start at multiples of eight, so that the last eight bytes are never torn from each other.
//!
//! A frame at the end that does not fit its check sum was torn by a crash, or damaged later. The two are told apart:
//! a crash loses whole sectors and nothing is behind what it lost, while a single bit turns over by itself.

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

const MARK: u32 = 0x5AF1_D8B7;
const END_MARK: u32 = 0xB7E3_4C5D;
const HEAD_LEN: usize = 24;
const TAIL_LEN: usize = 8;
const ALIGN: usize = 8;
/// What the largest content of a frame may be.
pub(crate) const CONTENT_LEN_MAX: usize = 1 << 30;

/// What ties a frame to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The number of the next frame.
    pub(crate) number: u64,
    /// The hash of all frames before it.
    pub(crate) chain: u64,
}

/// A frame that was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) content: &'a [u8],
    /// Bytes of all of it.
    pub(crate) len: usize,
    /// What the next frame must be tied to.
    pub(crate) next: Link,
}

/// Why there is no frame where one should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoFrame {
    /// There is nothing but zeros, or nothing at all.
    Blank,
    /// Something is there that a crash in the middle of writing can leave.
    Torn,
    /// Something is there that no crash leaves.
    Damaged(&'static str),
}

/// How long a frame with so much content is.
pub(crate) const fn frame_len(content_len: usize) -> usize {
    HEAD_LEN + content_len.next_multiple_of(ALIGN) + TAIL_LEN
}

/// What stands around the content of a frame, and what the next frame is tied to.
pub(crate) struct Seal {
    pub(crate) head: [u8; HEAD_LEN],
    tail: [u8; ALIGN + TAIL_LEN],
    /// Where zeros up to a multiple of eight begin in `tail`: as many as the content wants.
    tail_start: usize,
    pub(crate) next: Link,
}

/// Bytes that are hashed and summed up while they are close at hand.
const PIECE_LEN: usize = 64 << 10;

impl Seal {
    /// The seal of a frame with this content. One pass over it.
    pub(crate) fn new(link: Link, content: &[u8]) -> Self {
        debug_assert!(content.len() <= CONTENT_LEN_MAX, "whoever fills a frame keeps to the limit");
        let mut head = [0; HEAD_LEN];
        head[..4].copy_from_slice(&MARK.to_le_bytes());
        head[4..8].copy_from_slice(&(content.len() as u32).to_le_bytes());
        head[8..16].copy_from_slice(&link.number.to_le_bytes());
        head[16..].copy_from_slice(&link.chain.to_le_bytes());
        let mut check = crc32c::crc32c(&head);
        let mut chain = Xxh3::with_seed(link.chain);
        chain.update(&head);
        for piece in content.chunks(PIECE_LEN) {
            check = crc32c::crc32c_append(check, piece);
            chain.update(piece);
        }
        let mut tail = [0; ALIGN + TAIL_LEN];
        let tail_start = ALIGN - (content.len().next_multiple_of(ALIGN) - content.len());
        check = crc32c::crc32c_append(check, &tail[tail_start..ALIGN]);
        tail[ALIGN..ALIGN + 4].copy_from_slice(&check.to_le_bytes());
        tail[ALIGN + 4..].copy_from_slice(&END_MARK.to_le_bytes());
        chain.update(&tail[tail_start..]);
        Self { head, tail, tail_start, next: link.after(chain.digest()) }
    }

    /// What stands behind the content.
    pub(crate) fn tail(&self) -> &[u8] {
        &self.tail[self.tail_start..]
    }
}

/// Makes a frame in `frame`, which is cleared first, and returns what the next one is tied to.
pub(crate) fn write(frame: &mut Vec<u8>, link: Link, content: &[u8]) -> Link {
    let seal = Seal::new(link, content);
    frame.clear();
    for part in [&seal.head, content, seal.tail()] {
        frame.extend_from_slice(part);
    }
    seal.next
}

impl Link {
    /// Before the first frame of a log.
    pub(crate) const START: Self = Self { number: 0, chain: 0 };

    /// Behind a frame whose bytes have this hash, seeded with the chain before it.
    fn after(self, hash: u64) -> Self {
        // Wraps only where somebody made up a number.
        Self { number: self.number.wrapping_add(1), chain: hash }
    }
}

/// The frame at the beginning of `bytes`, if it is whole and tied to `link`.
pub(crate) fn read(bytes: &[u8], link: Link) -> Result<Frame<'_>, NoFrame> {
    let Some(raw) = Raw::at(bytes) else { return Err(judge(bytes, link)) };
    if !raw.is_whole() {
        return Err(judge(bytes, link));
    }
    if raw.link() != link {
        return Err(NoFrame::Damaged("a commit that does not follow the one before it"));
    }
    Ok(Frame {
        content: raw.content(),
        len: raw.bytes.len(),
        next: link.after(xxh3_64_with_seed(raw.bytes, link.chain)),
    })
}

/// What to make of bytes that are no frame, to the end of the file.
fn judge(bytes: &[u8], link: Link) -> NoFrame {
    if bytes.iter().all(|byte| *byte == 0) {
        return NoFrame::Blank;
    }
    // A commit is written only when the one before it is synced. So a later one shows that this one was whole once.
    let marks = bytes.windows(4).enumerate().skip(1).filter(|(_, word)| *word == MARK.to_le_bytes());
    let later = marks
        .filter_map(|(at, _)| Raw::at(&bytes[at..]))
        .any(|raw| raw.link().number > link.number && raw.is_whole());
    if later {
        return NoFrame::Damaged("a commit whose bytes have changed, with whole ones behind it");
    }
    if one_bit_off(bytes) {
        return NoFrame::Damaged("a commit in which one bit has changed");
    }
    NoFrame::Torn
}

/// Whether these bytes begin with a frame in which exactly one bit is wrong.
fn one_bit_off(bytes: &[u8]) -> bool {
    let Some(said) = bytes.get(4..8).and_then(|said| said.try_into().ok()).map(u32::from_le_bytes) else {
        return false;
    };
    // Where the length is right, the bit is somewhere in the frame; else it is in the length.
    let within = Raw::with_content_len(bytes, said as usize).is_some_and(Raw::is_one_bit_off);
    within
        || (0..u32::BITS).map(|bit| said ^ (1 << bit)).any(|length| {
            let Some(raw) = Raw::with_content_len(bytes, length as usize) else { return false };
            let mut mended = raw.bytes.to_vec();
            mended[4..8].copy_from_slice(&length.to_le_bytes());
            Raw { bytes: &mended, content_len: length as usize }.is_whole()
        })
}

/// Bytes that are as long as a frame.
#[derive(Clone, Copy)]
struct Raw<'a> {
    bytes: &'a [u8],
    content_len: usize,
}

impl<'a> Raw<'a> {
    fn at(bytes: &'a [u8]) -> Option<Self> {
        Self::with_content_len(bytes, u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?) as usize)
    }

    fn with_content_len(bytes: &'a [u8], content_len: usize) -> Option<Self> {
        if content_len > CONTENT_LEN_MAX {
            return None;
        }
        Some(Self { bytes: bytes.get(..frame_len(content_len))?, content_len })
    }

    fn content(self) -> &'a [u8] {
        &self.bytes[HEAD_LEN..HEAD_LEN + self.content_len]
    }

    fn link(self) -> Link {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&self.bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        Link { number: word(8), chain: word(16) }
    }

    /// All that the check sum covers, the check sum, and the end mark.
    fn parts(self) -> (&'a [u8], u32, u32) {
        let (checked, tail) = self.bytes.split_at(self.bytes.len() - TAIL_LEN);
        let word = |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
        (checked, word(0), word(4))
    }

    fn is_whole(self) -> bool {
        let (checked, check, end_mark) = self.parts();
        self.bytes[..4] == MARK.to_le_bytes() && end_mark == END_MARK && crc32c::crc32c(checked) == check
    }

    /// Whether turning one bit over would make it whole, the length aside.
    fn is_one_bit_off(self) -> bool {
        let (checked, check, end_mark) = self.parts();
        let off = crc32c::crc32c(checked) ^ check;
        if end_mark != END_MARK {
            return off == 0 && (end_mark ^ END_MARK).is_power_of_two();
        }
        off == 0 || off.is_power_of_two() || is_one_bits_trace(off, checked.len())
    }
}

/// Whether a check sum is off in the way that one wrong bit among `len` bytes puts it off.
///
/// A CRC is linear: what a wrong bit does to it depends on how many bits follow, and one bit more is one more turn of
/// the register.
fn is_one_bits_trace(off: u32, len: usize) -> bool {
    const POLYNOMIAL: u32 = 0x82F6_3B78;
    let mut trace = POLYNOMIAL;
    for _ in 0..len * 8 {
        if trace == off {
            return true;
        }
        trace = (trace >> 1) ^ if trace & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(link: Link, content: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        write(&mut frame, link, content);
        frame
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(content: Vec<u8>, number: u64, chain: u64, behind: Vec<u8>) {
            let link = Link { number: number >> 1, chain };
            let mut bytes = Vec::new();
            let next = write(&mut bytes, link, &content);
            prop_assert_eq!(bytes.len(), frame_len(content.len()));
            bytes.extend(behind);
            let frame = read(&bytes, link).unwrap();
            prop_assert_eq!(frame.content, &content[..]);
            prop_assert_eq!(frame.next, next);
            let other = Link { chain: !chain, ..link };
            prop_assert!(matches!(read(&bytes, other), Err(NoFrame::Damaged(_))));
        }

        #[test]
        fn one_wrong_bit_anywhere_is_damage_and_not_a_torn_end(content: Vec<u8>, at: prop::sample::Index) {
            let link = Link { number: 3, chain: 9 };
            let mut bytes = framed(link, &content);
            let at = at.index(bytes.len() * 8);
            bytes[at / 8] ^= 1 << (at % 8);
            bytes.resize(bytes.len() + 4096, 0);
            prop_assert!(matches!(read(&bytes, link), Err(NoFrame::Damaged(_))), "bit {}", at);
        }

        #[test]
        fn a_frame_that_ends_early_is_torn(content in prop::collection::vec(1_u8.., 1..4000), keep: prop::sample::Index) {
            let link = Link { number: 3, chain: 9 };
            let mut bytes = framed(link, &content);
            let keep = keep.index(bytes.len() / 8) * 8;
            bytes[keep..].fill(0);
            let expected = if keep == 0 { NoFrame::Blank } else { NoFrame::Torn };
            prop_assert_eq!(read(&bytes, link).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_later_whole_frame_shows_that_this_one_was_damaged() {
        let link = Link { number: 3, chain: 9 };
        let mut bytes = framed(link, &[7; 600]);
        bytes[100..200].fill(0);
        let torn = bytes.clone();
        assert_eq!(read(&torn, link).unwrap_err(), NoFrame::Torn);
        bytes.extend(framed(Link { number: 4, chain: 1 }, b"later"));
        assert!(matches!(read(&bytes, link), Err(NoFrame::Damaged(_))));
    }
}
