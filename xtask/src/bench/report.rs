//! What a run prints: medians, and haft's share of the other side.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Comparison, Side};

const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// Everything one run found.
#[derive(Debug)]
pub(crate) struct Report {
    /// Peak memory of a child that does nothing, in bytes.
    pub(crate) floor: u64,
    pub(crate) comparisons: Vec<Comparison>,
    /// What was measured inside one process.
    pub(crate) rows: Vec<Row>,
    /// What was asked of servers.
    pub(crate) served: Vec<Row>,
    /// What another library was asked for, too.
    pub(crate) beside: Vec<Row>,
    /// Scenarios that were left out, each with the reason.
    pub(crate) left_out: Vec<(&'static str, String)>,
}

/// One measured thing beside another, both in one unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) ours: f64,
    pub(crate) beside: String,
    pub(crate) theirs: f64,
}

impl Report {
    pub(crate) fn new(floor: u64) -> Self {
        Self {
            floor,
            comparisons: Vec::new(),
            rows: Vec::new(),
            served: Vec::new(),
            beside: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(crate) fn print_table(&self) {
        if !self.comparisons.is_empty() {
            self.print_comparisons();
        }
        for (title, rows) in [
            ("in one process", &self.rows),
            ("served", &self.served),
            ("beside another library", &self.beside),
        ] {
            print_rows(title, rows);
        }
        for (name, reason) in &self.left_out {
            println!("{name}: left out, {reason}");
        }
    }

    fn print_comparisons(&self) {
        println!(
            "{:<12} {:<6} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7}",
            "scenario", "beside", "haft ms", "other ms", "ratio", "haft MiB", "other MiB", "ratio"
        );
        for comparison in &self.comparisons {
            let (ours, theirs) = (&comparison.ours, &comparison.theirs);
            println!(
                "{:<12} {:<6} {:>10.1} {:>10.1} {:>7.2} {:>10.1} {:>10.1} {:>7.2}",
                comparison.name,
                theirs.label,
                ours.wall_ms(),
                theirs.wall_ms(),
                ours.wall_ms() / theirs.wall_ms(),
                ours.peak_mib(),
                theirs.peak_mib(),
                ours.peak_mib() / theirs.peak_mib(),
            );
        }
        for Comparison { name, ours, theirs } in &self.comparisons {
            let pace = |side: &Side| Some(side.source? as f64 / 1_000.0 / side.wall_ms());
            if let (Some(our_pace), Some(their_pace)) = (pace(ours), pace(theirs)) {
                println!("{name}: {our_pace:.1} MB/s, {} {their_pace:.1} MB/s", theirs.label);
            }
        }
        let floor = self.floor as f64 / MEBIBYTE;
        println!("medians; a child that does nothing is seen with {floor:.1} MiB");
    }

    pub(crate) fn print_json(&self) -> Result<()> {
        let comparisons: Vec<Value> = self
            .comparisons
            .iter()
            .map(|comparison| {
                let (ours, theirs) = (&comparison.ours, &comparison.theirs);
                json!({
                    "scenario": comparison.name,
                    "haft": ours.to_json(),
                    "other": theirs.to_json(),
                    "wall_ratio": ours.wall_ms() / theirs.wall_ms(),
                    "peak_ratio": ours.peak_mib() / theirs.peak_mib(),
                })
            })
            .collect();
        let left_out: Vec<_> = self.left_out.iter().map(|(name, _)| name).collect();
        let report = json!({
            "peak_floor_bytes": self.floor,
            "comparisons": comparisons,
            "in_one_process": to_json(&self.rows),
            "served": to_json(&self.served),
            "beside": to_json(&self.beside),
            "left_out": left_out,
        });
        println!("{}", serde_json::to_string_pretty(&report)?);
        Ok(())
    }
}

impl Side {
    fn wall_ms(&self) -> f64 {
        median(self.samples.iter().map(|sample| sample.wall.as_secs_f64() * 1000.0))
    }

    fn processor_ms(&self) -> f64 {
        median(self.samples.iter().map(|sample| sample.processor.as_secs_f64() * 1000.0))
    }

    fn peak_mib(&self) -> f64 {
        median(self.samples.iter().map(|sample| sample.peak_bytes as f64 / MEBIBYTE))
    }

    fn to_json(&self) -> Value {
        let walls: Vec<f64> =
            self.samples.iter().map(|sample| sample.wall.as_secs_f64() * 1000.0).collect();
        json!({
            "label": self.label,
            "wall_ms": self.wall_ms(),
            "processor_ms": self.processor_ms(),
            "peak_mib": self.peak_mib(),
            "wall_ms_samples": walls,
        })
    }
}

fn print_rows(title: &str, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    println!("{title:<44} {:>10}   {:<36} {:>10} {:>7}", "haft", "beside", "other", "ratio");
    for Row { what, unit, ours, beside, theirs } in rows {
        let [shown, other] = [ours, theirs].map(|value| in_words(*value, unit));
        let ratio = ours / theirs;
        let digits = if ratio < 0.01 { 5 } else { 2 };
        println!("{what:<44} {shown:>10}   {beside:<36} {other:>10} {ratio:>7.digits$}");
    }
}

/// Writes a value with three digits or more, in the largest unit of which there is one.
fn in_words(value: f64, unit: &str) -> String {
    let (value, unit) = match unit {
        "ns" if value >= 1e9 => (value / 1e9, "s"),
        "ns" if value >= 1e6 => (value / 1e6, "ms"),
        "ns" if value >= 1e3 => (value / 1e3, "µs"),
        unit => (value, unit),
    };
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

fn to_json(rows: &[Row]) -> Vec<Value> {
    let row = |it: &Row| {
        json!({
            "what": it.what,
            "unit": it.unit,
            "haft": it.ours,
            "beside": it.beside,
            "other": it.theirs,
            "ratio": it.ours / it.theirs,
        })
    };
    rows.iter().map(row).collect()
}

/// Returns the middle value, or the mean of the two in the middle; not a number without any.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2);
    let lower = values.get(values.len().saturating_sub(1) / 2);
    match (lower, upper) {
        (Some(lower), Some(upper)) => f64::midpoint(*lower, *upper),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_units_that_can_be_read() {
        let shown =
            [(0.25, "ns"), (4_561.0, "ns"), (1_211e6, "ns"), (17_300.0, "KiB"), (42.0, "µs")];
        let shown = shown.map(|(value, unit)| in_words(value, unit));
        assert_eq!(shown, ["0.25 ns", "4.56 µs", "1.21 s", "17300 KiB", "42.0 µs"]);
    }

    #[test]
    fn medians_of_odd_even_and_no_values() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 3.0, 2.0].into_iter()) - 2.5).abs() < f64::EPSILON);
        assert!(median(std::iter::empty()).is_nan());
    }
}
