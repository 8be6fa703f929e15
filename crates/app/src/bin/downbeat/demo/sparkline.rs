//! A row of blocks that shows how a value went over time.
//!
//! A column shows the value farthest from zero in its stretch: a short kick is not averaged away.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// As many blocks as `columns`; the middle block is zero, the largest value either way fills or empties it.
pub(super) fn sparkline(values: &[f64], columns: usize) -> String {
    let peaks: Vec<f64> = stretches(values, columns).map(peak).collect();
    let largest = peaks.iter().fold(0.0_f64, |largest, peak| largest.max(peak.abs()));
    peaks.iter().map(|&peak| block(peak, largest)).collect()
}

/// The values cut into `columns` pieces of as equal a length as can be; fewer when there are fewer values.
fn stretches(values: &[f64], columns: usize) -> impl Iterator<Item = &[f64]> {
    let columns = columns.min(values.len());
    (0..columns)
        .map(move |column| &values[column * values.len() / columns..(column + 1) * values.len() / columns])
}

fn peak(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |peak: f64, &value| if value.abs() > peak.abs() { value } else { peak })
}

fn block(value: f64, largest: f64) -> char {
    const MIDDLE: f64 = 3.0;
    let level = if largest > 0.0 { MIDDLE + (value / largest * 4.0).round() } else { MIDDLE };
    // The cast saturates: a level below the lowest block is the lowest block.
    BLOCKS[(level as usize).min(BLOCKS.len() - 1)]
}
