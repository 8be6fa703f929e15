//! Reads a stretch of simulated time such as `100ms` or `1m30s` into nanoseconds.
//!
//! A span is above zero and ends on the timeline: everything else is refused here, so that no command has to.

use anyhow::{Result, anyhow, bail};
use downbeat_time::SimTime;

pub(super) fn parse(text: &str) -> Result<u64> {
    let span = humantime::parse_duration(text)
        .map_err(|error| anyhow!("{error}; write a duration such as 100ms, 10s, 1m30s or 250us"))?;
    if span.is_zero() {
        bail!("nothing can be seen in no time; write a duration above 0, such as 100ms");
    }
    let nanos = u64::try_from(span.as_nanos()).ok().filter(|&nanos| nanos <= SimTime::END.as_nanos());
    nanos.ok_or_else(|| anyhow!("the timeline ends after 584 years; write a shorter duration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_exact_to_the_nanosecond() {
        let cases = [
            ("100ms", 100_000_000),
            ("1m30s", 90_000_000_000),
            ("250us", 250_000),
            ("1s 1ns", 1_000_000_001),
            ("584years", 18_429_638_400_000_000_000),
        ];
        for (text, nanos) in cases {
            assert_eq!(parse(text).unwrap(), nanos, "{text}");
        }
    }

    #[test]
    fn a_span_that_shows_nothing_or_never_ends_is_refused() {
        for text in ["", "0s", "10", "-1s", "soon", "585years", "99999999999999999999s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
