//! `haft state`: look after recorded state.

use std::path::Path;

use clap::{Args, Subcommand};

use super::{Invocation, log};
use crate::exit::Exit;
use crate::print::Tone;
use crate::when;

/// Look after recorded state
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Say how much space records take up, and where
    Du,
    /// Remove what is older or more than the configuration keeps
    Gc(GcArgs),
}

/// Remove what is older or more than the configuration keeps
#[derive(Debug, Args)]
pub(crate) struct GcArgs {
    /// Only say what would be removed
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(crate) fn run(invocation: &Invocation<'_>, command: &StateCommand) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let printer = invocation.printer;
    let field = |label: &str, text: &str| {
        printer.line(&[(Tone::Faint, &format!("{label:<10}")), (Tone::Plain, text)]);
    };
    match command {
        StateCommand::Du => {
            let usage = store.usage()?;
            if printer.is_json() {
                return printer.envelope(Exit::Ok, usage);
            }
            if let Some(dir) = &usage.dir {
                field("where", &dir.display().to_string());
            }
            let oldest = usage
                .oldest
                .map(|at| format!(", the oldest of {}", when::show(at)))
                .unwrap_or_default();
            field("calls", &format!("{}{oldest}", usage.calls));
            field("changes", &format!("{} of files", usage.changes));
            if usage.runs > 0 {
                field("runs", &format!("{}, {}", usage.runs, size(usage.run_bytes)));
            }
            field("database", &size(usage.database_bytes + usage.log_bytes));
            field("content", &format!("{} in {} files", size(usage.object_bytes), usage.objects));
            if let Some(log) = &usage.damaged_log {
                printer.aside(Tone::Bad, "records", &damaged(log));
            }
        }
        StateCommand::Gc(args) => {
            let now = log::now();
            let report = if args.dry_run { store.gc_preview(now)? } else { store.gc(now)? };
            if printer.is_json() {
                return printer.envelope(Exit::Ok, report);
            }
            let verb = if args.dry_run { "would remove" } else { "removed" };
            let runs = match report.runs {
                0 => String::new(),
                runs => format!("{runs} runs, "),
            };
            printer.text(&format!(
                "{verb} {runs}{} calls, {} artifacts, {} changes of files and {} of stored content",
                report.calls,
                report.artifacts,
                report.changes,
                size(report.object_bytes)
            ));
        }
    }
    Ok(Exit::Ok)
}

/// Shows a number of bytes in a unit that fits.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// Says that records were lost, and what is left of them.
pub(super) fn damaged(log: &Path) -> String {
    format!(
        "the log of the latest writes was damaged or missing, so calls may be gone; what was left of it is in `{}`, and \
         this is said until that file is removed",
        log.display()
    )
}
