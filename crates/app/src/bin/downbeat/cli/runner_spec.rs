//! Reads `NAME=RATE[@OFFSET_NS]` into the settings of a runner.
//!
//! Whether names are usable and unique is not looked at here: the time manager refuses those it cannot take.

use anyhow::{Result, anyhow, bail};
use downbeat_time::{Rate, RunnerConfig, SimTime};

pub(super) fn parse(text: &str) -> Result<RunnerConfig> {
    // The last `=`: a rate holds none, a name may.
    let (name, grid) = text.rsplit_once('=').ok_or_else(|| {
        anyhow!("no `=` between name and rate; write NAME=RATE[@OFFSET_NS], such as Lidar=500@1000000")
    })?;
    let (rate, offset_nanos) = match grid.split_once('@') {
        Some((rate, offset)) => (rate, parse_offset_nanos(offset)?),
        None => (grid, 0),
    };
    Ok(RunnerConfig::new(name, rate.parse::<Rate>()?).with_offset_nanos(offset_nanos))
}

fn parse_offset_nanos(text: &str) -> Result<u64> {
    // `u64::from_str` also takes a leading plus.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        bail!("offset `{text}` is not a whole number of nanoseconds; write @1000000 for one millisecond");
    }
    let nanos = text.parse().ok().filter(|&nanos| nanos <= SimTime::END.as_nanos());
    nanos.ok_or_else(|| {
        let end = SimTime::END.as_nanos();
        anyhow!(
            "offset `{text}` is too large: the timeline ends at {end} ns (584 years); write a smaller one"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_the_signs_of_the_grammar() {
        let runner = parse("a=b@c=29.97@5").unwrap();
        assert_eq!((runner.name.as_str(), runner.offset.as_nanos()), ("a=b@c", 5));
        assert_eq!(runner.rate.to_string(), "29.97 Hz");
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, word) in [
            ("Robot", "no `=`"),
            ("Robot=", "is empty"),
            ("Robot=@5", "is empty"),
            ("Robot=50@", "offset ``"),
            ("Robot=50@-1", "offset `-1`"),
            ("Robot=50@+1", "offset `+1`"),
            ("Robot=50@1ms", "offset `1ms`"),
            ("Robot=50@18446744073709551615", "offset `18446744073709551615` is too large"),
            ("Robot=50@18446744073709551616", "offset `18446744073709551616` is too large"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
