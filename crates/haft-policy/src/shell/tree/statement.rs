//! Simple commands, and statements that only assign or test.

use tree_sitter::Node;

use super::super::evaluate::word;
use super::super::plain::RESERVED;
use super::super::{Redirection, ShellCommand, Unknown, Word};
use super::{Around, Reading, Walk};

/// What a command is made of, gathered from the places where the grammar puts it.
#[derive(Default)]
pub(super) struct Parts<'t> {
    pub(super) words: Vec<Node<'t>>,
    pub(super) assignments: Vec<Node<'t>>,
    pub(super) redirections: Vec<Redirection>,
}

impl<'t> Walk<'t, '_> {
    /// Reads a command with the redirections behind it.
    pub(super) fn statement(&mut self, node: Node<'t>, redirects: &[Node<'t>], around: &Around) {
        let mut parts = Parts::default();
        if node.kind() == "variable_assignment" {
            parts.assignments.push(node);
        } else {
            let declares = node.kind() == "declaration_command";
            for child in node.children(&mut node.walk()) {
                if declares && child.kind() == "variable_assignment" {
                    parts.words.push(child);
                } else {
                    self.part(child, &mut parts, around);
                }
            }
        }
        for redirect in redirects {
            self.redirect(*redirect, &mut parts, around);
        }
        self.finish(node, parts, around);
    }

    fn part(&mut self, child: Node<'t>, parts: &mut Parts<'t>, around: &Around) {
        match child.kind() {
            "variable_assignment" => parts.assignments.push(child),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                self.redirect(child, parts, around);
            }
            "subshell" => {
                self.unclear(child, "parentheses behind a command are not understood");
                self.todo.push((child, around.clone()));
            }
            // The grammar has no other words than these without names.
            "declare" | "typeset" | "export" | "readonly" | "local" | "unset" | "unsetenv"
            | "$" | "==" | "=~" => {
                parts.words.push(child);
            }
            "ERROR" | "comment" => self.unclear(child, "it cannot be read"),
            _ if child.is_named() => parts.words.push(child),
            _ => self.unclear(child, "it is not understood"),
        }
    }

    /// Makes the command of its parts, and goes on with what is nested in them.
    pub(super) fn finish(&mut self, node: Node<'t>, parts: Parts<'t>, around: &Around) {
        let Parts { mut words, assignments, redirections } = parts;
        words.sort_by_key(Node::start_byte);
        let glued = words.windows(2).find_map(|pair| match pair {
            [one, other] if one.end_byte() == other.start_byte() => Some(*other),
            _ => None,
        });
        if let Some(glued) = glued {
            self.unclear(glued, "it is not clear where a word ends");
        }
        let keeps_descriptor = |it: &&Node<'t>| {
            let after = self.source.get(it.end_byte()..).unwrap_or_default();
            self.text(**it).starts_with('{') && after.starts_with(['<', '>'])
        };
        if let Some(variable) = words.iter().find(keeps_descriptor).copied() {
            self.unclear(variable, "a descriptor kept in a variable is not understood");
        }
        let read: Vec<Word> = words.iter().map(|it| self.word(*it)).collect();
        let is_reserved = |first: &Word| RESERVED.contains(&first.text());
        if let (Some(first), Some(node)) =
            (read.first().filter(|it| is_reserved(it)), words.first())
        {
            self.unclear(*node, format!("`{}` is no program to a shell", first.text()));
        }
        for node in words.iter().chain(&assignments) {
            if node.kind() == "variable_assignment" {
                self.assigned(*node);
                self.children(*node, around);
            } else if node.is_named() {
                self.todo.push((*node, around.clone()));
            }
        }
        let first = words.iter().chain(&assignments).map(Node::start_byte).min();
        let mut read = read.into_iter();
        let command = ShellCommand {
            program: read.next(),
            arguments: read.collect(),
            assignments: assignments.iter().map(|it| self.text(*it).to_owned()).collect(),
            redirections,
            places: around.places.to_vec(),
            run_by: None,
            is_frame: false,
            beside: None,
        };
        self.found.commands.push((first.unwrap_or_else(|| node.start_byte()), command));
    }

    fn word(&self, node: Node<'t>) -> Word {
        match node.kind() {
            "declare" | "typeset" | "export" | "readonly" | "local" | "unset" | "unsetenv" => {
                let text = self.text(node);
                Word::new(text, Ok(text.to_owned()))
            }
            _ => word(node, self.source),
        }
    }

    /// Reads `[ … ]` and `[[ … ]]`: a program whose arguments are a condition.
    pub(super) fn test(&mut self, node: Node<'t>, redirects: &[Node<'t>], around: &Around) {
        let mut parts = Parts::default();
        for redirect in redirects {
            self.redirect(*redirect, &mut parts, around);
        }
        for extra in std::mem::take(&mut parts.words) {
            self.unclear(extra, "a word behind a condition is not understood");
        }
        let text = self.text(node);
        let program = if text.starts_with("[[") { "[[" } else { "[" };
        let condition = text.strip_prefix(program).unwrap_or_default().trim();
        let command = ShellCommand {
            program: Some(Word::new(program, Ok(program.to_owned()))),
            arguments: vec![Word::unknown(condition, Unknown::Condition)],
            assignments: Vec::new(),
            redirections: parts.redirections,
            places: around.places.to_vec(),
            run_by: None,
            is_frame: false,
            beside: None,
        };
        self.found.commands.push((node.start_byte(), command));
        let reading = if program == "[[" { Reading::Condition } else { Reading::Test };
        self.children(node, &around.reading(reading));
    }
}
