//! The pages of `specs/` hold.

#![expect(clippy::disallowed_methods, reason = "the pages are files of the repository")]

use std::fs;
use std::path::{Path, PathBuf};

use haft_testkit::pages::run_page;

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

#[tokio::test]
async fn every_page_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    let update = std::env::var_os("HAFT_PAGES").is_some_and(|it| it == "update");
    let mut wrong = Vec::new();
    let pages = pages_in(&folder);
    assert!(!pages.is_empty(), "there are no pages in {}", folder.display());
    for path in pages {
        let page = fs::read_to_string(&path).unwrap();
        match run_page(&page).await {
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
            Ok(now) if now == page => {}
            Ok(now) if update => fs::write(&path, now).unwrap(),
            Ok(now) => wrong.push(format!("{}:\n{}", path.display(), difference(&page, &now))),
        }
    }
    assert!(wrong.is_empty(), "{}\n(HAFT_PAGES=update writes the outcomes anew)", wrong.join("\n"));
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
