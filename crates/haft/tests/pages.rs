//! The pages of `specs/` hold.
//!
//! Each page is a test of its own. This program has a `main` of its own because it also acts as the helper that runs the
//! programs of the pages.

#![expect(clippy::disallowed_methods, reason = "the pages are files of the repository")]
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::fs;
use std::path::{Path, PathBuf};

use haft::process::{Launcher, helper};
use haft_testkit::pages::run_page;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let helper = helper::run_if_requested();
    let launcher = Launcher::new(Some(helper), std::env::temp_dir());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    let trials: Vec<Trial> = pages_in(&folder)
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            let launcher = launcher.clone();
            Trial::test(name, move || holds(&path, &launcher))
        })
        .collect();
    assert!(!trials.is_empty(), "there are no pages in {}", folder.display());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(pages_in(&path));
        } else if path.extension().is_some_and(|it| it == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// Runs a page, and writes its outcomes anew where that is asked for.
fn holds(path: &Path, launcher: &Launcher) -> Result<(), Failed> {
    let update = std::env::var_os("HAFT_PAGES").is_some_and(|it| it == "update");
    let page = fs::read_to_string(path)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let now = runtime.block_on(run_page(&page, launcher))?;
    if now == page {
        Ok(())
    } else if update {
        Ok(fs::write(path, now)?)
    } else {
        Err(format!("{}\n(HAFT_PAGES=update writes the outcomes anew)", difference(&page, &now))
            .into())
    }
}

/// Shows the first lines that differ.
fn difference(page: &str, now: &str) -> String {
    let (mut old, mut new) = (page.lines(), now.lines());
    let mut line = 0;
    loop {
        line += 1;
        match (old.next(), new.next()) {
            (None, None) => return "the last line end differs".to_owned(),
            (one, two) if one == two => {}
            (one, two) => {
                let rest: Vec<&str> = new.take(6).collect();
                return format!(
                    "line {line}\n  page: {}\n  now:  {}\n        {}",
                    one.unwrap_or("(end)"),
                    two.unwrap_or("(end)"),
                    rest.join("\n        ")
                );
            }
        }
    }
}
