//! Links between the Markdown pages of the repository lead somewhere.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{Tree, Violation};

/// Checks every link that does not leave the repository.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for page in tree.pages() {
        for (target, line) in links(&page.text) {
            if let Some(text) = problem(tree, &page.path, &target) {
                violations.push(Violation::new(&page.path, line, "links", text));
            }
        }
    }
    violations
}

fn problem(tree: &Tree, page: &str, target: &str) -> Option<String> {
    let leaves = target.contains("://") || target.starts_with("mailto:");
    if leaves {
        return None;
    }
    let (file, heading) = match target.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (target, None),
    };
    let path = if file.is_empty() {
        page.to_owned()
    } else {
        match resolve(page, file) {
            Some(path) if tree.has(&path) => path,
            _ => return Some(format!("`{target}` leads nowhere")),
        }
    };
    let heading = heading?;
    let text = &tree.others().iter().find(|other| other.path == path)?.text;
    let known = headings(text).iter().any(|known| known == heading);
    (!known).then(|| format!("`{target}` names no heading of {path}"))
}

/// Resolves a link from the folder of its page; `None` where it leaves the repository.
fn resolve(page: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns the targets of links and images with their lines.
fn links(text: &str) -> Vec<(String, usize)> {
    let parser = Parser::new_ext(text, options()).into_offset_iter();
    parser
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let before = text.get(..range.start).unwrap_or_default();
                Some((dest_url.into_string(), before.matches('\n').count() + 1))
            }
            _ => None,
        })
        .collect()
}

/// Returns the names by which the headings of a page are linked to.
fn headings(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut current: Option<String> = None;
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Start(Tag::Heading { .. }) => current = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => names.extend(current.take().map(|it| slug(&it))),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut current {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    names
}

fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'))
        .map(|character| if character == ' ' { '-' } else { character })
        .collect()
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(page: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("docs/a.md", page),
            ("docs/b.md", "# Read a file\n\n## `search`, twice\n"),
            ("README.md", ""),
            ("crates/x/src/lib.rs", ""),
        ]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_link_to_a_missing_file_is_caught() {
        assert_eq!(texts("one\n\n[c](c.md)"), ["docs/a.md:3: links: `c.md` leads nowhere"]);
        assert_eq!(
            texts("[c][1]\n\n[1]: ../c.md"),
            ["docs/a.md:1: links: `../c.md` leads nowhere"]
        );
        assert_eq!(texts("[up](../../c.md)").len(), 1);
    }

    #[test]
    fn a_link_to_a_missing_heading_is_caught() {
        assert_eq!(
            texts("[b](b.md#write-a-file)"),
            ["docs/a.md:1: links: `b.md#write-a-file` names no heading of docs/b.md"]
        );
        assert_eq!(texts("# Here\n\n[a](#there)").len(), 1);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let page = "# Here\n\n[a](#here) [b](b.md#read-a-file) [c](b.md#search-twice)
            [d](../README.md) [e](../crates/x) [f](https://example.com/none)";
        assert!(texts(page).is_empty(), "{:?}", texts(page));
    }

    #[test]
    fn code_holds_no_links() {
        assert!(texts("`[a](none.md)`\n\n```md\n[b](none.md)\n```\n").is_empty());
    }
}
