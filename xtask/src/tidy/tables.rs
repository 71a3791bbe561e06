//! Rows of tables in the Markdown pages stand in a table: one behind a blank line has lost its head.

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::{Tree, Violation};

/// Checks that no paragraph begins like the row of a table.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for page in tree.pages() {
        let events = Parser::new_ext(&page.text, Options::ENABLE_TABLES).into_offset_iter();
        for (event, range) in events {
            let is_row = page.text.get(range.clone()).is_some_and(|it| it.starts_with('|'));
            if matches!(event, Event::Start(Tag::Paragraph)) && is_row {
                let before = page.text.get(..range.start).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                let text = "a row of a table without its head";
                violations.push(Violation::new(&page.path, line, "tables", text));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(page: &str) -> Vec<String> {
        let tree = Tree::of(&[("docs/a.md", page)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_behind_a_blank_line_is_caught() {
        assert_eq!(
            texts("| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n| 5 | 6 |\n"),
            ["docs/a.md:5: tables: a row of a table without its head"]
        );
        assert_eq!(texts("| a | b |\n\n|---|---|\n").len(), 2);
    }

    #[test]
    fn whole_tables_and_what_code_holds_pass() {
        assert!(texts("| a |\n|---|\n| 1 |\n\ntext | more\n\n```md\n| 1 |\n```\n").is_empty());
    }
}
