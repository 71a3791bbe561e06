//! The first reader: tree-sitter's grammar of bash, walked by a closed list of node kinds.
//!
//! The grammar reads some things otherwise than bash does. Where it is known to, the walk looks at the text again and says
//! that it is not clear.

mod calculation;
mod redirect;
mod statement;

use std::ops::ControlFlow;
use std::rc::Rc;

use haft_protocol::limits::COMMAND_DEPTH;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::evaluate::text_of;
use super::plain::Plain;
use super::reader::excerpt_of;
use super::{Place, ShellCommand, Unclear};
use calculation::Numbers;

/// Looks at the grammar's work before it is stopped, beside one for so many bytes. It is looked at every hundred steps;
/// ordinary text is read with half as many.
const LOOKS: usize = 500;
const BYTES_PER_LOOK: usize = 8;

/// What a text says.
#[derive(Default)]
pub(super) struct Found {
    /// The commands with where they begin, in the order of the text.
    pub(super) commands: Vec<(usize, ShellCommand)>,
    pub(super) unclear: Vec<Unclear>,
}

impl Found {
    /// Returns the commands in the form of the second reader, where all words are literal.
    pub(super) fn plainly(&self) -> Option<Plain> {
        let mut plain = Plain::default();
        for (_, command) in &self.commands {
            if !command.assignments.is_empty() {
                return None;
            }
            if command.program.is_some() {
                let words = command.words().map(|word| word.literal().map(ToOwned::to_owned));
                plain.commands.push(words.collect::<Option<_>>()?);
            }
            for redirection in &command.redirections {
                let target = redirection.target.as_ref()?.literal()?.to_owned();
                plain.redirections.push((redirection.operator.clone(), target));
            }
        }
        plain.redirections.sort();
        Some(plain)
    }
}

/// Reads a text.
pub(super) fn read(text: &str) -> Found {
    let Some(tree) = parse(text) else {
        let why = "it cannot be read".to_owned();
        let unclear = Unclear { line: 1, excerpt: excerpt_of(text), why };
        return Found { commands: Vec::new(), unclear: vec![unclear] };
    };
    let mut walk = Walk {
        source: text,
        found: Found::default(),
        todo: Vec::new(),
        numbers: Numbers::default(),
    };
    walk.run(tree.root_node());
    walk.judge_names();
    let Walk { mut found, .. } = walk;
    found.commands.sort_by_key(|(at, _)| *at);
    found
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut looks = LOOKS + text.len() / BYTES_PER_LOOK;
    // What cannot be read makes the whole unclear, and looking for a way on can take very long.
    let mut look = |state: &ParseState| match looks.checked_sub(1) {
        Some(left) if !state.has_error() => {
            looks = left;
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut look);
    let mut bytes = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut bytes, None, Some(options))
}

/// A walk over the tree that keeps its own stack, so that no text makes it run out of one.
struct Walk<'t, 's> {
    source: &'s str,
    found: Found,
    todo: Vec<(Node<'t>, Around)>,
    numbers: Numbers<'t, 's>,
}

/// What is around a node.
#[derive(Clone)]
struct Around {
    places: Rc<Vec<Place>>,
    reading: Reading,
}

/// What bash does with the words that stand somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Expands them.
    Words,
    /// Compares them, in `[ … ]`.
    Test,
    /// Compares them, and calculates with some, in `[[ … ]]`.
    Condition,
    /// Calculates with them.
    Calculation,
}

impl Around {
    fn within(&self, place: Place) -> Self {
        if self.places.last() == Some(&place) {
            return self.clone();
        }
        let places = self.places.iter().copied().chain([place]).collect();
        Self { places: Rc::new(places), reading: self.reading }
    }

    fn reading(&self, reading: Reading) -> Self {
        Self { reading, ..self.clone() }
    }
}

impl<'t, 's> Walk<'t, 's> {
    fn run(&mut self, root: Node<'t>) {
        self.todo.push((root, Around { places: Rc::default(), reading: Reading::Words }));
        while let Some((node, around)) = self.todo.pop() {
            if around.places.len() > COMMAND_DEPTH {
                self.unclear(node, "it nests too deeply");
                break;
            }
            self.visit(node, &around);
        }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        text_of(node, self.source)
    }

    fn unclear(&mut self, node: Node<'_>, why: impl Into<String>) {
        let line = node.start_position().row + 1;
        let excerpt = excerpt_of(self.text(node).trim());
        self.found.unclear.push(Unclear { line, excerpt, why: why.into() });
    }

    fn visit(&mut self, node: Node<'t>, around: &Around) {
        if node.is_error() || node.is_missing() {
            return self.unclear(node, "it cannot be read");
        }
        if around.reading == Reading::Calculation {
            self.calculated(node);
        }
        match node.kind() {
            "list" => self.children(node, &around.within(Place::List)),
            "pipeline" => self.children(node, &around.within(Place::Pipeline)),
            "subshell" => self.children(node, &around.nested(Place::Subshell)),
            "compound_statement" => {
                let group = around.nested(Place::Group);
                if self.text(node).starts_with("((") {
                    return self.children(node, &group.reading(Reading::Calculation));
                }
                self.children(node, &group);
            }
            "if_statement" | "elif_clause" | "else_clause" | "negated_command"
            | "case_statement" | "case_item" => {
                self.children(node, &around.within(Place::Conditional));
            }
            "while_statement" | "for_statement" => {
                self.children(node, &around.nested(Place::Loop));
            }
            "c_style_for_statement" => self.counting_loop(node, &around.nested(Place::Loop)),
            "function_definition" => self.children(node, &around.nested(Place::Function)),
            "command" | "declaration_command" | "unset_command" | "variable_assignment" => {
                self.statement(node, &[], around);
            }
            "test_command" => self.test(node, &[], around),
            "redirected_statement" => self.redirected(node, around),
            "command_substitution" => {
                let text = self.text(node);
                if text.contains('\\') && !text.starts_with("$(") {
                    return self
                        .unclear(node, "a backslash within backticks changes what they say");
                }
                self.substitution(node, around);
            }
            "process_substitution" => self.substitution(node, around),
            "arithmetic_expansion" => {
                self.children(node, &around.reading(Reading::Calculation));
            }
            "binary_expression" | "unary_expression" => self.compared(node, around),
            "subscript" => self.index(node, around),
            "expansion" => self.expansion(node, around),
            "array" => self.array(node, around),
            "simple_expansion" => {
                self.expanded(node);
                self.children(node, around);
            }
            "postfix_expression"
            | "ternary_expression"
            | "parenthesized_expression"
            | "string"
            | "translated_string"
            | "concatenation"
            | "command_name"
            | "brace_expression"
            | "number"
            | "heredoc_body"
            | "program"
            | "do_group"
            | "variable_assignments" => {
                self.children(node, around);
            }
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                self.stray_redirect(node, around);
            }
            "comment" => self.comment(node),
            "raw_string" | "ansi_c_string" => {
                let runs = |it: &str| it.contains("$(") || it.contains('`') || it.contains("${");
                let text = self.text(node);
                let calculates = around.reading == Reading::Calculation;
                if calculates || (around.reading != Reading::Words && runs(text)) {
                    self.unclear(node, "a condition or calculation may run what is quoted in it");
                }
            }
            "word"
            | "string_content"
            | "regex"
            | "extglob_pattern"
            | "variable_name"
            | "special_variable_name"
            | "test_operator"
            | "file_descriptor"
            | "heredoc_start"
            | "heredoc_content"
            | "heredoc_end" => {
                if node.kind() != "heredoc_content" && hides_substitution(self.text(node)) {
                    self.unclear(node, "a substitution is not read as one");
                }
            }
            _ if !node.is_named() => {}
            kind => self.unclear(node, format!("`{kind}` is not understood")),
        }
    }

    /// Goes on with the children of a node, in order.
    fn children(&mut self, node: Node<'t>, around: &Around) {
        self.children_each(node, around, |_| around.reading);
    }

    /// Goes on with the children of a node, in order, each read in its way.
    fn children_each(
        &mut self,
        node: Node<'t>,
        around: &Around,
        mut reading: impl FnMut(Node<'t>) -> Reading,
    ) {
        let from = self.todo.len();
        let mut cursor = node.walk();
        let children = node.children(&mut cursor);
        self.todo.extend(children.map(|child| (child, around.reading(reading(child)))));
        if let Some(added) = self.todo.get_mut(from..) {
            added.reverse();
        }
    }

    fn substitution(&mut self, node: Node<'t>, around: &Around) {
        self.children(node, &around.nested(Place::Substitution).reading(Reading::Words));
    }

    /// Checks that a comment begins where bash begins one: at the start of a word.
    fn comment(&mut self, node: Node<'_>) {
        let mut before = self.source.get(..node.start_byte()).unwrap_or_default().chars().rev();
        let (before, further) = (before.next(), before.next());
        let begins = matches!(before, None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'));
        // What is escaped before it is part of a word that goes on.
        if !begins || further == Some('\\') {
            self.unclear(node, "it is no comment to a shell");
        }
    }
}

impl Around {
    /// Is one level further in, also within something of the same kind.
    fn nested(&self, place: Place) -> Self {
        let places = self.places.iter().copied().chain([place]).collect();
        Self { places: Rc::new(places), reading: self.reading }
    }
}

/// Tells whether a text that the grammar takes for plain characters holds what a shell would expand.
fn hides_substitution(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => {
                rest.next();
            }
            '`' => return true,
            '$' | '<' | '>' if rest.peek() == Some(&'(') => return true,
            '$' if rest.peek() == Some(&'{') => return true,
            _ => {}
        }
    }
    false
}
