//! `cargo xtask bench`: haft beside the programs people would use instead.
//!
//! Both sides of a scenario run in one session, turn by turn, so that what disturbs the
//! machine disturbs both; what is printed are medians and their ratio. A scenario whose
//! programs are not there is named and left out.

mod beside;
mod inside;
mod measure;
mod report;
mod scenarios;
mod servers;
mod syntax;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use self::inside::Benchmark;
use self::measure::{Program, Sample, measure};
use self::report::Report;
use self::scenarios::{Place, SCENARIOS, Scenario, Way};
use crate::repository;

/// What `cargo xtask bench` understands.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Scenarios to run; all without a name.
    names: Vec<String>,
    /// Turns that each side takes.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// A folder with scripts that measure lionagi: b02_action.py and the like, and a requirements.lock.
    #[arg(long, value_name = "DIR")]
    beside: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Print the scenarios and what they measure, then stop.
    #[arg(long)]
    list: bool,
}

/// Every sample of one side.
#[derive(Debug)]
pub(crate) struct Side {
    label: &'static str,
    source: Option<u64>,
    samples: Vec<Sample>,
}

/// Both sides of one scenario: haft first.
#[derive(Debug)]
pub(crate) struct Comparison {
    name: &'static str,
    ours: Side,
    theirs: Side,
}

/// Runs scenarios and prints how haft compares.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        for scenario in SCENARIOS {
            println!("{:<12} {}", scenario.name, scenario.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = select(&arguments.names)?;
    let root = repository::root()?;
    let place = Place::new(&root);
    fs::create_dir_all(&place.folder)
        .with_context(|| format!("cannot create {}", place.folder.display()))?;

    let mut report = Report::new(floor(&place)?);
    let mut measured_inside: Vec<(Benchmark, Value)> = Vec::new();
    for scenario in wanted {
        eprintln!("{}: {}", scenario.name, scenario.about);
        match scenario.way {
            Way::Programs { needs, prepare, runs } => {
                let missing = needs(&place).into_iter().find(|program| !program.exists());
                if let Some(program) = missing {
                    report.left_out.push((scenario.name, is_missing(&program)));
                    continue;
                }
                let programs = prepare(&place)?;
                let rounds = arguments.rounds.saturating_mul(runs);
                let compared = compare(scenario.name, programs, &place, rounds)?;
                report.comparisons.push(compared);
            }
            Way::Servers(question) => {
                let missing = servers::needs(question, &place).into_iter().find(|it| !it.exists());
                if let Some(program) = missing {
                    report.left_out.push((scenario.name, is_missing(&program)));
                    continue;
                }
                report.served.push(servers::ask(question, &root, &place, arguments.rounds)?);
            }
            Way::Inside(benchmark, rows) => {
                if measured_inside.iter().all(|(known, _)| *known != benchmark) {
                    measured_inside.push((benchmark, inside::measure(&root, benchmark, &[])?));
                }
                let measured = measured_inside.iter().find(|(known, _)| *known == benchmark);
                if let Some((_, measured)) = measured {
                    report.rows.extend(rows(measured)?);
                }
            }
            Way::Beside => match &arguments.beside {
                None => report
                    .left_out
                    .push((scenario.name, "no --beside says where its scripts are".to_owned())),
                Some(folder) => match beside::missing(folder) {
                    Some(script) => report.left_out.push((scenario.name, is_missing(&script))),
                    None => {
                        report.beside = beside::measure(&root, folder, &place, arguments.rounds)?;
                    }
                },
            },
        }
    }
    if arguments.json {
        report.print_json()?;
    } else {
        report.print_table();
    }
    Ok(ExitCode::SUCCESS)
}

fn is_missing(program: &Path) -> String {
    format!("{} is not there", program.display())
}

fn select(names: &[String]) -> Result<Vec<&'static Scenario>> {
    if let Some(unknown) = names.iter().find(|name| SCENARIOS.iter().all(|it| it.name != **name)) {
        let known: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        bail!("no scenario is called `{unknown}`, there are {}", known.join(", "));
    }
    let wanted =
        |scenario: &&Scenario| names.is_empty() || names.iter().any(|it| it == scenario.name);
    Ok(SCENARIOS.iter().filter(wanted).collect())
}

fn compare(
    name: &'static str,
    [ours, theirs]: [Program; 2],
    place: &Place,
    rounds: u16,
) -> Result<Comparison> {
    let scratch = place.folder.as_path();
    let mut sides = [&ours, &theirs].map(|program| {
        let (label, source) = (program.label, program.source);
        Side { label, source, samples: Vec::new() }
    });
    // One turn each is not counted: it warms the page cache for both.
    measure(&ours, scratch)?;
    measure(&theirs, scratch)?;
    for round in 0..rounds {
        let [first, second] = &mut sides;
        // Whoever goes first in one round goes second in the next.
        if round % 2 == 0 {
            first.samples.push(measure(&ours, scratch)?);
            second.samples.push(measure(&theirs, scratch)?);
        } else {
            second.samples.push(measure(&theirs, scratch)?);
            first.samples.push(measure(&ours, scratch)?);
        }
    }
    let [ours, theirs] = sides;
    Ok(Comparison { name, ours, theirs })
}

/// Returns the peak memory of a child that does nothing. A child starts as a copy of this
/// process, so nothing below it can be told apart.
fn floor(place: &Place) -> Result<u64> {
    let nothing = Program::new("true", "true".into());
    Ok(measure(&nothing, &place.folder)?.peak_bytes)
}
