//! Seeded random numbers with the same bits everywhere. There is no source of true randomness here.

use rand_core::Rng as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// A stream of random numbers: a function of a seed and a name, saved and restored with what owns it.
///
/// ```
/// use downbeat_world::Random;
///
/// let mut dice = Random::new(7, "dice");
/// let rolls: Vec<u32> = (0..4).map(|_| 1 + dice.below(6)).collect();
/// let mut again = Random::new(7, "dice");
/// assert!(rolls.iter().all(|roll| *roll == 1 + again.below(6)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random(Pcg64);

impl Random {
    /// The stream of this name under a seed. Streams of other names are independent of it.
    pub fn new(seed: u64, name: &str) -> Self {
        let stream = xxh3_64(name.as_bytes());
        Self(Pcg64::new(u128::from(seed), u128::from(stream)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// What the stream decides, as two words: its next numbers. Streams that go on alike have the same.
    pub(crate) fn fingerprint(&self) -> [u64; 2] {
        let mut ahead = self.clone();
        [ahead.bits(), ahead.bits()]
    }

    /// A whole number below `end`, each as likely as another; 0 when `end` is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        // The product's high half is uniform up to a bias of one part in 2³², below what any run could show.
        let product = u128::from(self.bits()) * u128::from(end);
        u32::try_from(product >> 64).unwrap_or_default()
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.bits() >> 11) as f64 / STEPS
    }

    /// A number between two others, the higher one excluded.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A normally distributed number: mean 0, deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn streams_have_the_bits_they_always_had() {
        let mut first = Random::new(1, "arm");
        let mut other = Random::new(1, "pile");
        let bits: [u64; 3] = std::array::from_fn(|_| first.bits());
        // As XXH3 and PCG64 (XSL-RR) are published; calculated apart from the crates that are used here.
        assert_eq!(bits, [14_456_882_955_736_340_251, 1_257_738_933_644_722_279, 13_997_013_257_482_492_602]);
        assert_ne!(bits[0], other.bits());
    }

    #[test]
    fn numbers_keep_within_their_bounds_and_spread() {
        let mut random = Random::new(3, "");
        let mut seen = [0_u32; 6];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..60_000 {
            seen[random.below(6) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
            let normal = random.normal();
            (sum, squares) = (sum + normal, squares + normal * normal);
        }
        assert!(seen.iter().all(|count| (9_500..10_500).contains(count)), "{seen:?}");
        assert!((sum / 60_000.0).abs() < 0.02 && (squares / 60_000.0 - 1.0).abs() < 0.03);
        assert_eq!(random.below(0), 0);
    }
}
