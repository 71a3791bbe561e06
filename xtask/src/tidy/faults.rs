//! Every known fault has a row in `docs/faults.md`, and a row that claims a test has one.
//!
//! A test that shows a fault is called `o_nnn_…` after its id. What cannot be shown carries an
//! excuse from a closed list, so that nothing is excused in words of the day.

use std::collections::BTreeMap;

use super::{Tree, Violation};

const PAGE: &str = "docs/faults.md";

/// Ids run from `O-001` to this one.
const LAST: u16 = 121;

/// Excuses that stand alone.
const EXCUSES: &[&str] = &["other-os", "no such feature"];

/// Work that will cover a fault, after `later: `.
const LATER: &[&str] = &[
    "configuration writing",
    "flows",
    "git worktrees",
    "HTTP server",
    "image reading",
    "MCP client",
    "MCP server",
    "model providers",
    "network tools",
    "reading tools",
    "sessions and compaction",
    "skills",
    "subagents",
    "turn loop",
];

/// What the last column of a row holds.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Test(String),
    Excuse,
    Nonsense(String),
}

/// Joins rows and tests both ways.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.others().iter().find(|file| file.path == PAGE) else {
        return vec![Violation::new(PAGE, 1, "faults", "the page is missing")];
    };
    let tests = tests(tree);
    let mut violations = Vec::new();
    let mut seen: BTreeMap<u16, usize> = BTreeMap::new();
    let mut claimed: Vec<(String, u16)> = Vec::new();

    for (index, text) in page.text.lines().enumerate().filter(|(_, text)| text.starts_with("| O-"))
    {
        let line = index + 1;
        let mut say = |text: String| violations.push(Violation::new(PAGE, line, "faults", text));
        let cells: Vec<&str> = text.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, kind, shown] = cells.as_slice() else {
            say(format!("a row has three cells, this one has {}", cells.len()));
            continue;
        };
        let Some(number) = id.strip_prefix("O-").and_then(|digits| digits.parse::<u16>().ok())
        else {
            say(format!("`{id}` is no id"));
            continue;
        };
        if number == 0 || number > LAST {
            say(format!("`{id}` is not known"));
        }
        if let Some(first) = seen.insert(number, line) {
            say(format!("`{id}` has a row already, on line {first}"));
        }
        if !kind.ends_with('.') {
            say("the kind is one whole sentence".to_owned());
        }
        for item in shown.split("; ").map(read_item) {
            match item {
                Shown::Excuse => {}
                Shown::Nonsense(text) => say(format!("`{text}` is neither a test nor an excuse")),
                Shown::Test(name) if number_of(&name) != Some(number) => {
                    say(format!("`{name}` is a test of another fault"));
                }
                Shown::Test(name) if !tests.iter().any(|test| test.name == name) => {
                    say(format!("no test is called `{name}`"));
                }
                Shown::Test(name) => claimed.push((name, number)),
            }
        }
    }
    for number in (1..=LAST).filter(|number| !seen.contains_key(number)) {
        let text = format!("`O-{number:03}` has no row");
        violations.push(Violation::new(PAGE, 1, "faults", text));
    }
    for test in &tests {
        if !claimed.iter().any(|(name, _)| *name == test.name) {
            let text = format!("`{}` stands in no row of {PAGE}", test.name);
            violations.push(Violation::new(&test.path, test.line, "faults", text));
        }
    }
    violations
}

fn read_item(item: &str) -> Shown {
    let name = item.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    if let Some(name) = name {
        return Shown::Test(name.to_owned());
    }
    let known = EXCUSES.contains(&item)
        || item.strip_prefix("later: ").is_some_and(|work| LATER.contains(&work));
    if known { Shown::Excuse } else { Shown::Nonsense(item.to_owned()) }
}

/// A test that is named for a fault.
struct FaultTest {
    name: String,
    path: String,
    line: usize,
}

fn tests(tree: &Tree) -> Vec<FaultTest> {
    let files = tree.sources().iter().filter(|file| file.path.starts_with("crates/"));
    files
        .flat_map(|file| {
            let named = file.names_after("fn").filter(|(name, _)| number_of(name).is_some());
            named.map(|(name, line)| FaultTest {
                name: name.to_owned(),
                path: file.path.clone(),
                line,
            })
        })
        .collect()
}

/// Reads the number out of `o_nnn_…`.
fn number_of(name: &str) -> Option<u16> {
    let (digits, rest) = name.strip_prefix("o_")?.split_once('_')?;
    (digits.len() == 3 && !rest.is_empty()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with an excused row for every id but those given, which stand as written.
    fn page(rows: &[(u16, &str)]) -> String {
        let rows = (1..=LAST).map(|number| match rows.iter().find(|(own, _)| *own == number) {
            Some((_, row)) => (*row).to_owned(),
            None => format!("| O-{number:03} | A kind. | later: flows |\n"),
        });
        format!("| Id | Kind | Where |\n|---|---|---|\n{}", rows.collect::<String>())
    }

    fn texts(page: &str, test: &str) -> Vec<String> {
        let tree = Tree::of(&[(PAGE, page), ("crates/x/tests/it/a.rs", test)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_page_passes() {
        let row = "| O-007 | A kind. | `o_007_exact_path_wins`; later: image reading |\n";
        assert!(texts(&page(&[(7, row)]), "fn o_007_exact_path_wins() {}").is_empty());
    }

    #[test]
    fn a_missing_row_and_a_double_row_are_caught() {
        assert_eq!(texts(&page(&[(7, "")]), ""), ["docs/faults.md:1: faults: `O-007` has no row"]);
        let twice = "| O-007 | A kind. | other-os |\n| O-007 | A kind. | other-os |\n";
        assert_eq!(
            texts(&page(&[(7, twice)]), ""),
            ["docs/faults.md:10: faults: `O-007` has a row already, on line 9"]
        );
        let unknown = page(&[]) + "| O-122 | A kind. | other-os |\n";
        assert_eq!(texts(&unknown, "").len(), 1);
    }

    #[test]
    fn a_row_without_its_test_is_caught() {
        let row = "| O-007 | A kind. | `o_007_exact_path_wins` |\n";
        assert_eq!(
            texts(&page(&[(7, row)]), ""),
            ["docs/faults.md:9: faults: no test is called `o_007_exact_path_wins`"]
        );
    }

    #[test]
    fn a_test_without_its_row_is_caught() {
        assert_eq!(
            texts(&page(&[]), "#[test]\nfn o_007_exact_path_wins() {}"),
            [
                "crates/x/tests/it/a.rs:2: faults: `o_007_exact_path_wins` stands in no row of docs/faults.md"
            ]
        );
    }

    #[test]
    fn excuses_come_from_the_list() {
        let row = "| O-007 | A kind. | later: some day |\n";
        assert_eq!(
            texts(&page(&[(7, row)]), ""),
            ["docs/faults.md:9: faults: `later: some day` is neither a test nor an excuse"]
        );
    }

    #[test]
    fn a_test_is_claimed_by_its_own_row() {
        let row = "| O-008 | A kind. | `o_007_exact_path_wins` |\n";
        assert_eq!(texts(&page(&[(8, row)]), "fn o_007_exact_path_wins() {}").len(), 2);
    }

    #[test]
    fn rows_that_cannot_be_read_are_caught() {
        let short = "| O-007 | A kind. |\n";
        assert_eq!(texts(&page(&[(7, short)]), "").len(), 2);
        let open = "| O-007 | no sentence | other-os |\n";
        assert_eq!(
            texts(&page(&[(7, open)]), ""),
            ["docs/faults.md:9: faults: the kind is one whole sentence"]
        );
    }
}
