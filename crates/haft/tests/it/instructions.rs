//! What a project tells whoever works on it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use haft::{FoundInstructions, Haft, HaftBuilder, limits};

/// Folders with these files, each a root.
struct Roots {
    _folder: tempfile::TempDir,
    roots: Vec<PathBuf>,
}

impl Roots {
    fn new(roots: &[&[(&str, &str)]]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = roots.iter().enumerate().map(|(number, files)| {
            let root = folder.path().join(format!("root{number}"));
            fs::create_dir(&root).unwrap();
            for (name, text) in *files {
                fs::write(root.join(name), text).unwrap();
            }
            root
        });
        let roots = made.collect();
        Self { _folder: folder, roots }
    }

    fn first(&self) -> &Path {
        self.roots.first().unwrap()
    }

    fn read(&self) -> FoundInstructions {
        let builder = self.roots.iter().fold(Haft::builder(), HaftBuilder::root);
        builder.open().unwrap().instructions()
    }

    /// The names and texts, and the remarks with the roots' own names left out.
    fn found(&self) -> (Vec<(String, String)>, Vec<String>) {
        let above = self.first().parent().unwrap().canonicalize().unwrap();
        let short = |text: &str| text.replace(&*above.to_string_lossy(), "");
        let found = self.read();
        let texts = found.instructions.iter().map(|it| (short(&it.name), it.text.clone()));
        (texts.collect(), found.remarks.iter().map(|it| short(it)).collect())
    }
}

fn found(texts: &[(&str, &str)]) -> (Vec<(String, String)>, Vec<String>) {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    (texts.iter().map(owned).collect(), Vec::new())
}

#[test]
fn agents_md_is_read_and_claude_md_where_there_is_none_in_the_order_of_the_roots() {
    let roots = Roots::new(&[
        &[("AGENTS.md", "one"), ("CLAUDE.md", "not read")],
        &[("README.md", "not read")],
        &[("CLAUDE.md", "\u{feff}two\r\n")],
    ]);
    let expected = [("AGENTS.md", "one"), ("/root2/CLAUDE.md", "two\r\n")];
    assert_eq!(roots.found(), found(&expected));
}

#[test]
fn without_any_there_is_nothing_to_say() {
    assert_eq!(Roots::new(&[&[]]).read(), FoundInstructions::default());
}

#[test]
fn links_stay_within_the_roots_and_nothing_but_text_is_read() {
    let roots = Roots::new(&[&[("RULES.md", "linked")], &[], &[], &[], &[("CLAUDE.md", "beside")]]);
    let outside = roots.first().parent().unwrap().join("outside.md");
    fs::write(&outside, "secret").unwrap();
    symlink("RULES.md", roots.roots[0].join("AGENTS.md")).unwrap();
    symlink(&outside, roots.roots[1].join("AGENTS.md")).unwrap();
    fs::create_dir(roots.roots[2].join("AGENTS.md")).unwrap();
    fs::write(roots.roots[3].join("AGENTS.md"), b"\x7fELF\x02\x01\x01\0\0\0").unwrap();
    symlink("nowhere.md", roots.roots[4].join("AGENTS.md")).unwrap();
    let (texts, remarks) = roots.found();
    assert_eq!(texts, [("AGENTS.md".to_owned(), "linked".to_owned())]);
    assert_eq!(
        remarks,
        [
            "`/root1/AGENTS.md` was not read: `/root1/AGENTS.md` leads outside the workspace through the link `/root1/AGENTS.md`",
            "`/root2/AGENTS.md` was not read: `/root2/AGENTS.md` is a directory, not a regular file",
            "`/root3/AGENTS.md` was not read: it is not text",
            "`/root4/AGENTS.md` was not read: `/root4/AGENTS.md` does not exist: the link `/root4/AGENTS.md` points to `/root4/nowhere.md`, which is not there",
        ]
    );
}

#[test]
fn what_is_protected_is_not_read() {
    let roots = Roots::new(&[&[("AGENTS.md", "secret")]]);
    let protection = haft::workspace::Protection::extended(&["AGENTS.md"], &[]).unwrap();
    let haft = Haft::builder().root(roots.first()).protection(protection).open().unwrap();
    let found = haft.instructions();
    assert!(found.instructions.is_empty());
    assert_eq!(found.remarks.len(), 1);
}

#[test]
fn long_ones_are_cut_and_all_together_have_a_bound() {
    let line = "é".repeat(49) + "\n";
    let long = line.repeat(1_000);
    let files: &[(&str, &str)] = &[("AGENTS.md", &long)];
    let found = Roots::new(&[files; 4]).read();
    let lengths: Vec<usize> = found.instructions.iter().map(|it| it.text.len()).collect();
    assert!(lengths.iter().all(|it| *it <= limits::INSTRUCTIONS_BYTES));
    assert!(lengths.iter().sum::<usize>() <= limits::INSTRUCTIONS_BYTES_ALL);
    assert!(
        found
            .instructions
            .iter()
            .all(|it| it.text.len() as u64 + it.left_out_bytes == long.len() as u64)
    );
    assert_eq!(found.remarks.len(), 4);
    assert!(found.instructions[0].text.ends_with('é'));
}
