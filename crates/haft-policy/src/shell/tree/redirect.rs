//! Redirections, and the words that the grammar puts behind them.

use tree_sitter::Node;

use super::super::Redirection;
use super::super::evaluate::word;
use super::statement::Parts;
use super::{Around, Walk};

impl<'t> Walk<'t, '_> {
    /// Reads a statement with redirections behind it.
    pub(super) fn redirected(&mut self, node: Node<'t>, around: &Around) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let body = node.child_by_field_name("body");
        let redirects: Vec<Node<'t>> =
            children.into_iter().filter(|it| Some(*it) != body).collect();
        match body.map(|it| (it, it.kind())) {
            Some((
                body,
                "command" | "declaration_command" | "unset_command" | "variable_assignment",
            )) => {
                self.statement(body, &redirects, around);
            }
            Some((body, "test_command")) => self.test(body, &redirects, around),
            other => {
                let mut parts = Parts::default();
                for redirect in redirects {
                    self.redirect(redirect, &mut parts, around);
                }
                if let Some((body, _)) = other {
                    // To bash, words behind the redirection of a group are an error.
                    for extra in std::mem::take(&mut parts.words) {
                        self.unclear(extra, "a word behind a redirection belongs to no command");
                    }
                    self.todo.push((body, around.clone()));
                }
                self.finish(redirects_start(node, body), parts, around);
            }
        }
    }

    /// Reads a redirection that stands where none is expected.
    pub(super) fn stray_redirect(&mut self, node: Node<'t>, around: &Around) {
        let mut parts = Parts::default();
        self.redirect(node, &mut parts, around);
        self.finish(node, parts, around);
    }

    /// Reads one redirection into the parts of its command.
    pub(super) fn redirect(&mut self, node: Node<'t>, parts: &mut Parts<'t>, around: &Around) {
        match node.kind() {
            "file_redirect" | "herestring_redirect" => self.file(node, parts, around),
            "heredoc_redirect" => self.here(node, parts, around),
            _ => self.unclear(node, "it is no redirection"),
        }
    }

    fn file(&mut self, node: Node<'t>, parts: &mut Parts<'t>, around: &Around) {
        let (mut operator, mut words) = (String::new(), Vec::new());
        let mut arrow_end = node.start_byte();
        for child in node.children(&mut node.walk()) {
            match child.kind() {
                "file_descriptor" => operator.push_str(self.text(child)),
                "<&-" | ">&-" => {
                    operator.push_str(self.text(child).trim_end_matches('-'));
                    words.push(None);
                }
                "<" | ">" | ">>" | "&>" | "&>>" | "<&" | ">&" | ">|" | "<<<" => {
                    operator.push_str(self.text(child));
                    arrow_end = child.end_byte();
                }
                "comment" => self.comment(child),
                _ if child.is_named() => words.push(Some(child)),
                _ => self.unclear(child, "it is not understood"),
            }
        }
        if operator.starts_with('{') {
            self.unclear(node, "a descriptor kept in a variable is not understood");
        }
        let mut words = words.into_iter();
        let target = match words.next() {
            Some(Some(target)) => {
                // The grammar looks for the target in further lines; to bash, it is missing.
                let between = self.source.get(arrow_end..target.start_byte()).unwrap_or_default();
                if between.replace("\\\n", "").contains('\n') {
                    self.unclear(node, "it leads nowhere in its line");
                }
                self.todo.push((target, around.clone()));
                word(target, self.source)
            }
            Some(None) => super::super::Word::literal_of("-"),
            None => return self.unclear(node, "it leads nowhere"),
        };
        parts.redirections.push(Redirection { operator, target: Some(target) });
        // The grammar takes every word behind a redirection for its target; to bash, only the first is.
        parts.words.extend(words.flatten());
    }

    /// Reads a here-document, whose end the grammar finds less strictly than bash does.
    fn here(&mut self, node: Node<'t>, parts: &mut Parts<'t>, around: &Around) {
        let mut operator = String::new();
        let (mut start, mut body, mut end) = (None, None, None);
        for child in node.children(&mut node.walk()) {
            match child.kind() {
                "file_descriptor" | "<<" | "<<-" => operator.push_str(self.text(child)),
                "heredoc_start" => start = Some(child),
                "heredoc_body" => body = Some(child),
                "heredoc_end" => end = Some(child),
                "&&" | "||" | "|" | "|&" | "\n" => {}
                "comment" => self.comment(child),
                "file_redirect" | "herestring_redirect" => self.file(child, parts, around),
                "ERROR" => self.unclear(child, "it cannot be read"),
                "pipeline"
                | "list"
                | "command"
                | "redirected_statement"
                | "subshell"
                | "compound_statement"
                | "if_statement"
                | "while_statement"
                | "for_statement"
                | "test_command"
                | "declaration_command"
                | "unset_command"
                | "negated_command"
                | "variable_assignment" => {
                    self.todo.push((child, around.clone()));
                }
                _ if child.is_named() => parts.words.push(child),
                _ => self.unclear(child, "it is not understood"),
            }
        }
        let mark = start.map(|it| self.text(it)).unwrap_or_default();
        parts
            .redirections
            .push(Redirection { operator: format!("{operator}{mark}"), target: None });
        match (start, body, end) {
            (Some(start), Some(body), Some(end))
                if self.lies_where_bash_has_it(&operator, start, body, end) =>
            {
                self.body(start, body, around);
            }
            _ => self.unclear(node, "it is not clear where the here-document ends"),
        }
    }

    /// Tells whether a document begins in the line after the one that asks for it, and ends where the grammar ends it: at
    /// the first line that is nothing but the mark.
    fn lies_where_bash_has_it(
        &self,
        operator: &str,
        start: Node<'t>,
        body: Node<'t>,
        end: Node<'t>,
    ) -> bool {
        let mark = self.text(start);
        let quoted = |quote: char| mark.strip_prefix(quote)?.strip_suffix(quote);
        let bare = quoted('\'')
            .or_else(|| quoted('"'))
            .or_else(|| mark.strip_prefix('\\'))
            .unwrap_or(mark);
        let is_simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let asked_in = start.start_position().row;
        let mut lines = self.source.split('\n').enumerate().skip(asked_in);
        // Two documents that begin in one line follow each other, which is not worth following.
        let is_only = lines.next().is_some_and(|(_, line)| line.matches("<<").count() == 1);
        // Behind an operator at the end of its line, the grammar goes on with commands, where bash has the document.
        let follows = lines.clone().next().is_some_and(|(row, _)| row == body.start_position().row);
        let found = lines.find(|(_, line)| {
            let line = if operator.ends_with('-') { line.trim_start_matches('\t') } else { line };
            line == bare
        });
        bare.chars().all(is_simple)
            && is_only
            && follows
            && found.is_some_and(|(row, _)| row == end.start_position().row)
    }

    /// Goes on with what is expanded in a here-document, unless its mark is quoted.
    fn body(&mut self, start: Node<'t>, body: Node<'t>, around: &Around) {
        if self.text(start).starts_with(['\'', '"', '\\']) {
            return;
        }
        let text = self.text(body);
        let mut cursor = body.walk();
        let mut is_read = |begin, kind| {
            let found = body.named_children(&mut cursor).filter(|it| it.kind() == kind);
            text.matches(begin).count() == found.count()
        };
        let is_all_read = is_read("$(", "command_substitution") && is_read("${", "expansion");
        let calculates = text.contains("$((") || text.contains("$[");
        if text.contains('`') || calculates || !is_all_read {
            self.unclear(body, "it is not clear what the here-document runs");
        }
        self.todo.push((body, around.clone()));
    }
}

/// Returns the node where the redirections begin.
fn redirects_start<'t>(node: Node<'t>, body: Option<Node<'t>>) -> Node<'t> {
    body.and_then(|it| it.next_sibling()).unwrap_or(node)
}
