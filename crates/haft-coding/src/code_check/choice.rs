//! Which checker is started, and where.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use haft_protocol::{ErrorKind, Failure, limits};
use haft_syntax::Language;
use haft_workspace::{FileKind, Resolved, View, WalkOptions};

use super::Checker;

/// What is started where.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) checker: Checker,
    /// The directory of the package, for a checker of whole projects; else the first root.
    pub(super) directory: Resolved,
}

/// Chooses the checker, where none is wanted, and finds the directory to start it in.
pub(super) fn target(
    view: &View,
    place: &Resolved,
    wanted: Option<Checker>,
) -> Result<Target, Failure> {
    let package = || package(view, place);
    let checker = match wanted {
        Some(checker) => checker,
        None => chosen(view, place, package)?,
    };
    let directory = if checker.takes_paths() {
        view.printed(".")?
    } else {
        package().ok_or_else(|| {
            let path = place.logical();
            let text = format!(
                "there is no `Cargo.toml` at or above `{path}`, which `{}` needs",
                checker.as_str()
            );
            Failure::new(ErrorKind::NotFound, text)
                .hint("set \"path\" to the directory of a Rust package or something in it")
        })?
    };
    Ok(Target { checker, directory })
}

fn chosen(
    view: &View,
    place: &Resolved,
    package: impl Fn() -> Option<Resolved>,
) -> Result<Checker, Failure> {
    let is_directory = place.kind() == Some(FileKind::Directory);
    let language = Language::of_path(place.logical().as_str().as_ref());
    match language {
        Some(Language::Python) if !is_directory => return Ok(Checker::Ruff),
        Some(language) if !is_directory && language != Language::Rust => {}
        _ if package().is_some() => return Ok(Checker::CargoCheck),
        _ if is_directory && has_python(view, place)? => return Ok(Checker::Ruff),
        _ => {}
    }
    let text = format!(
        "no checker is known for `{}`: it holds no Python files, and no `Cargo.toml` is at or above it",
        place.logical()
    );
    let names = Checker::ALL.map(|it| format!("\"{}\"", it.as_str())).join(", ");
    Err(Failure::new(ErrorKind::Unsupported, text)
        .hint(format!("set \"checker\" to one of {names}, or \"path\" to what is to be checked")))
}

/// Finds the directory of the nearest package, at or above a place.
fn package(view: &View, place: &Resolved) -> Option<Resolved> {
    let start = Path::new(place.logical().as_str());
    start.ancestors().find_map(|directory| {
        let directory = match directory.to_str()? {
            "" => ".",
            directory => directory,
        };
        let manifest = view.printed(&format!("{directory}/Cargo.toml")).ok()?;
        let is_file = manifest.kind() == Some(FileKind::File);
        is_file.then(|| view.printed(directory).ok()).flatten()
    })
}

fn has_python(view: &View, place: &Resolved) -> Result<bool, Failure> {
    let met = AtomicBool::new(false);
    let deadline = Instant::now() + Duration::from_millis(limits::SEARCH_MS);
    let options = WalkOptions { deadline: Some(deadline), ..WalkOptions::default() };
    view.walk(place, &options, &|| met.load(Ordering::Relaxed), || {
        |found: &haft_workspace::Found<'_>| {
            if Language::of_path(found.relative()) == Some(Language::Python) {
                met.store(true, Ordering::Relaxed);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }
    })?;
    Ok(met.into_inner())
}
