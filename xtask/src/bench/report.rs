//! What a run prints: medians, and haft's share of the other side.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::inside::Row;
use super::servers::Served;
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
    pub(crate) served: Vec<Served>,
    /// Scenarios that were left out, each with the program it lacks.
    pub(crate) left_out: Vec<(&'static str, PathBuf)>,
}

impl Report {
    pub(crate) fn new(floor: u64) -> Self {
        Self {
            floor,
            comparisons: Vec::new(),
            rows: Vec::new(),
            served: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(crate) fn print_table(&self) {
        if !self.comparisons.is_empty() {
            self.print_comparisons();
        }
        if !self.rows.is_empty() {
            self.print_rows();
        }
        if !self.served.is_empty() {
            self.print_served();
        }
        for (name, program) in &self.left_out {
            println!("{name}: left out, {} is not there", program.display());
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

    fn print_rows(&self) {
        println!(
            "{:<36} {:>10}   {:<18} {:>10} {:>7}",
            "in one process", "ns", "beside", "ns", "ratio"
        );
        for row in &self.rows {
            println!(
                "{:<36} {:>10.0}   {:<18} {:>10.0} {:>7.2}",
                row.what,
                row.nanoseconds,
                row.beside,
                row.beside_nanoseconds,
                row.nanoseconds / row.beside_nanoseconds,
            );
        }
    }

    fn print_served(&self) {
        println!(
            "{:<42} {:>12}   {:<26} {:>12} {:>7}",
            "served", "haft", "beside", "other", "ratio"
        );
        for Served { what, unit, ours, beside, theirs } in &self.served {
            let ratio = ours / theirs;
            println!(
                "{what:<42} {ours:>9.0} {unit:<3}  {beside:<26} {theirs:>8.0} {unit:<3} {ratio:>7.2}"
            );
        }
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
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "what": row.what,
                    "ns": row.nanoseconds,
                    "beside": row.beside,
                    "beside_ns": row.beside_nanoseconds,
                    "ratio": row.nanoseconds / row.beside_nanoseconds,
                })
            })
            .collect();
        let served: Vec<Value> = self
            .served
            .iter()
            .map(|it| {
                json!({
                    "what": it.what,
                    "unit": it.unit,
                    "haft": it.ours,
                    "beside": it.beside,
                    "other": it.theirs,
                    "ratio": it.ours / it.theirs,
                })
            })
            .collect();
        let left_out: Vec<_> = self.left_out.iter().map(|(name, _)| name).collect();
        let report = json!({
            "peak_floor_bytes": self.floor,
            "comparisons": comparisons,
            "in_one_process": rows,
            "served": served,
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
    fn medians_of_odd_even_and_no_values() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 3.0, 2.0].into_iter()) - 2.5).abs() < f64::EPSILON);
        assert!(median(std::iter::empty()).is_nan());
    }
}
