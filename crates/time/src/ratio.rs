//! Reading an exact ratio from text: `50`, `29.97`, `30000/1001`.
//!
//! It does not know units or limits of its users ([`Rate`](crate::Rate), [`TimeScale`](crate::TimeScale)).

use thiserror::Error;

/// Why a text is not a ratio of two whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RatioError {
    /// Nothing was written.
    #[error("is empty; write a number such as 50, 29.97 or 30000/1001")]
    Empty,
    /// A character that is not part of a number.
    #[error("is not a number; write it as 50, 29.97 or 30000/1001")]
    NotANumber,
    /// More digits than 64 bits hold.
    #[error("has too many digits; numerator and denominator may go up to 18446744073709551615")]
    TooManyDigits,
    /// The part below the fraction bar is zero.
    #[error("divides by zero; the number after the bar must be above 0")]
    DividesByZero,
}

/// Reads `A`, `A.B` or `A/B` and reduces it. The numerator may be zero, the denominator never is.
pub(crate) fn parse(text: &str) -> Result<(u64, u64), RatioError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(RatioError::Empty);
    }
    let (numer, denom) = match text.split_once('/') {
        Some((numer, denom)) => (whole(numer.trim())?, whole(denom.trim())?),
        None => match text.split_once('.') {
            Some((units, decimals)) => decimal(units, decimals)?,
            None => (whole(text)?, 1),
        },
    };
    if denom == 0 {
        return Err(RatioError::DividesByZero);
    }
    Ok(reduce(numer, denom))
}

/// The same ratio in lowest terms. The denominator must not be zero, so neither is the common divisor.
pub(crate) const fn reduce(numer: u64, denom: u64) -> (u64, u64) {
    let (mut a, mut b) = (numer, denom);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (numer / a, denom / a)
}

fn whole(digits: &str) -> Result<u64, RatioError> {
    // `u64::from_str` also takes a leading plus, which would make "+50" and "50" two spellings of one rate.
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(RatioError::NotANumber);
    }
    digits.parse().map_err(|_| RatioError::TooManyDigits)
}

fn decimal(units: &str, decimals: &str) -> Result<(u64, u64), RatioError> {
    let decimals_kept = decimals.trim_end_matches('0');
    if decimals.is_empty() || !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return Err(RatioError::NotANumber);
    }
    let exponent = u32::try_from(decimals_kept.len()).map_err(|_| RatioError::TooManyDigits)?;
    let denom = 10_u64.checked_pow(exponent).ok_or(RatioError::TooManyDigits)?;
    let fraction = if decimals_kept.is_empty() { 0 } else { whole(decimals_kept)? };
    let numer = whole(units)?
        .checked_mul(denom)
        .and_then(|n| n.checked_add(fraction))
        .ok_or(RatioError::TooManyDigits)?;
    Ok((numer, denom))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_decimal_and_fraction_in_lowest_terms() {
        let cases = [
            ("50", (50, 1)),
            (" 29.97 ", (2997, 100)),
            ("30000/1001", (30000, 1001)),
            ("60 / 2", (30, 1)),
            ("0.5", (1, 2)),
            ("50.000", (50, 1)),
            ("0", (0, 1)),
            ("18446744073709551615", (u64::MAX, 1)),
        ];
        for (text, ratio) in cases {
            assert_eq!(parse(text), Ok(ratio), "{text}");
        }
    }

    #[test]
    fn refuses_everything_else_with_the_reason() {
        let cases = [
            ("", RatioError::Empty),
            ("  ", RatioError::Empty),
            ("fast", RatioError::NotANumber),
            ("-50", RatioError::NotANumber),
            ("+50", RatioError::NotANumber),
            ("1e3", RatioError::NotANumber),
            (".5", RatioError::NotANumber),
            ("5.", RatioError::NotANumber),
            ("1/2/3", RatioError::NotANumber),
            ("1.5/2", RatioError::NotANumber),
            ("1/", RatioError::NotANumber),
            ("1/0", RatioError::DividesByZero),
            ("18446744073709551616", RatioError::TooManyDigits),
            ("0.00000000000000000001", RatioError::TooManyDigits),
        ];
        for (text, error) in cases {
            assert_eq!(parse(text), Err(error), "{text:?}");
        }
    }
}
