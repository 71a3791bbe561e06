//! Calculations, and the other places where bash runs what a variable holds.
//!
//! Where bash calculates with a name, it calculates with what the variable holds as if that were written there, and runs
//! the substitutions in an index of it: after `x='a[$(rm y)]'`, `$((x))` runs `rm`. A name is clear where the text sets it
//! to a number, and says it nowhere but in calculations and where it is expanded.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::super::evaluate::text_of;
use super::{Around, Reading, Walk};

/// Why a place is not clear.
const CALCULATES: &str = "a calculation may run what a variable holds";

/// What compares two numbers in a condition.
const NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// What a text calculates with.
#[derive(Default)]
pub(super) struct Numbers<'t, 's> {
    /// The names that are calculated with, where they stand.
    calculated: Vec<(Node<'t>, &'s str)>,
    /// The names that are set to a number somewhere.
    set: HashSet<&'s str>,
    /// Where names stand that cannot set them to anything but a number.
    harmless: HashMap<&'s str, HashSet<usize>>,
}

impl<'t> Walk<'t, '_> {
    /// Looks at a node that is calculated with.
    pub(super) fn calculated(&mut self, node: Node<'t>) {
        let text = self.text(node);
        match node.kind() {
            "variable_name" | "word" if is_name(text) => {
                self.numbers.calculated.push((node, text));
                self.harmless(node);
            }
            "variable_name" | "word" | "string_content" if is_number(text) => {}
            "special_variable_name" if matches!(text, "#" | "?" | "$" | "!") => {}
            "number" if node.named_child_count() == 0 => {}
            // What is within is looked at by itself.
            "arithmetic_expansion"
            | "binary_expression"
            | "unary_expression"
            | "postfix_expression"
            | "ternary_expression"
            | "parenthesized_expression"
            | "simple_expansion"
            | "string"
            | "variable_assignment"
            | "test_operator"
            | "raw_string"
            | "ansi_c_string"
            | "comment" => {}
            "expansion" if is_name(inner(text).trim_start_matches('#')) => {}
            "command_substitution" | "process_substitution" => {
                self.unclear(node, "a calculation may run what a command prints");
            }
            _ if !node.is_named() => {}
            _ => self.unclear(node, CALCULATES),
        }
    }

    /// Looks at an assignment.
    pub(super) fn assigned(&mut self, node: Node<'t>) {
        let field = |name| node.child_by_field_name(name);
        let (Some(name), Some(value)) = (field("name"), field("value")) else { return };
        let is_number = match value.kind() {
            "number" => value.named_child_count() == 0,
            kind => kind == "arithmetic_expansion",
        };
        if is_number && name.kind() == "variable_name" {
            self.numbers.set.insert(self.text(name));
            self.harmless(name);
        }
    }

    fn harmless(&mut self, name: Node<'t>) {
        self.numbers.harmless.entry(self.text(name)).or_default().insert(name.start_byte());
    }

    /// Says of every name that is calculated with whether it is clear what it holds.
    pub(super) fn judge_names(&mut self) {
        let calculated = std::mem::take(&mut self.numbers.calculated);
        let mut said = HashMap::<&str, usize>::new();
        if !calculated.is_empty() {
            let is_part = |c: char| c == '_' || c.is_alphanumeric();
            for name in self.source.split(|c| !is_part(c)) {
                *said.entry(name).or_default() += 1;
            }
        }
        for (node, name) in calculated {
            let harmless = self.numbers.harmless.get(name).map_or(0, HashSet::len);
            let is_only_a_number = said.get(name).is_some_and(|it| *it == harmless);
            if !(self.numbers.set.contains(name) && is_only_a_number) {
                self.unclear(node, CALCULATES);
            }
        }
    }

    /// Goes on with two things that are compared or calculated with, or one.
    pub(super) fn compared(&mut self, node: Node<'t>, around: &Around) {
        let operator = node.child_by_field_name("operator").map(|it| self.text(it));
        let calculates = match around.reading {
            // The grammar has calculations in other places as well.
            Reading::Calculation | Reading::Words => true,
            Reading::Condition if operator.is_some_and(|it| NUMBERS.contains(&it)) => true,
            // A variable that is asked for by name may be asked for with an index.
            Reading::Condition | Reading::Test => {
                let operand = node.named_child(1).map(|it| self.text(it));
                matches!(operator, Some("-v" | "-R")) && !operand.is_some_and(is_name)
            }
        };
        if !calculates {
            return self.children(node, around);
        }
        self.set_by(node);
        self.children(node, &around.reading(Reading::Calculation));
    }

    /// Notes the name that `name = …` sets in a calculation.
    fn set_by(&mut self, node: Node<'t>) {
        let left = node.child_by_field_name("left").filter(|it| is_name(self.text(*it)));
        let sets = left.and_then(|it| it.next_sibling()).is_some_and(|it| self.text(it) == "=");
        if let Some(name) = left.filter(|_| sets) {
            self.numbers.set.insert(self.text(name));
        }
    }

    /// Goes on with `for ((…; …; …))`.
    pub(super) fn counting_loop(&mut self, node: Node<'t>, around: &Around) {
        let body = node.child_by_field_name("body");
        self.children_each(node, around, |child| {
            if Some(child) == body { around.reading } else { Reading::Calculation }
        });
    }

    /// Goes on with `a[…]`, outside of which the value of the element is not calculated with.
    pub(super) fn index(&mut self, node: Node<'t>, around: &Around) {
        let name = node.child_by_field_name("name");
        let source = self.source;
        self.children_each(node, around, |child| {
            let is_all = matches!(text_of(child, source), "@" | "*");
            if Some(child) == name || is_all { Reading::Words } else { Reading::Calculation }
        });
    }

    /// Goes on with `${…}`.
    pub(super) fn expansion(&mut self, node: Node<'t>, around: &Around) {
        let inner = inner(self.text(node));
        let of_another = inner.strip_prefix('!').filter(|it| !it.is_empty());
        if of_another.is_some_and(|it| !lists(it)) {
            self.unclear(
                node,
                "the name that a variable holds may have an index that runs something",
            );
        }
        if inner.ends_with("@P") {
            self.unclear(node, "what a variable holds is expanded once more");
        }
        let is_calculated = around.reading == Reading::Calculation && is_name(inner);
        let mut is_offset = false;
        self.children_each(node, around, |child| {
            is_offset |= child.kind() == ":";
            match around.reading {
                _ if is_offset || is_calculated => Reading::Calculation,
                // The whole is not clear already.
                Reading::Calculation => Reading::Words,
                reading => reading,
            }
        });
        if is_name(inner) {
            self.expanded(node);
        }
    }

    /// Notes a name that is only expanded.
    pub(super) fn expanded(&mut self, node: Node<'t>) {
        if let Some(name) = node.named_child(0).filter(|it| it.kind() == "variable_name") {
            self.harmless(name);
        }
    }

    /// Goes on with `(…)` behind `a=`, where a word may begin with an index.
    pub(super) fn array(&mut self, node: Node<'t>, around: &Around) {
        for child in node.named_children(&mut node.walk()) {
            let text = self.text(child);
            let index = text.strip_prefix('[').and_then(|it| it.split_once(']'));
            if text.starts_with('[') && !index.is_some_and(|(index, _)| is_number(index)) {
                self.unclear(child, CALCULATES);
            }
        }
        self.children(node, around);
    }
}

/// Tells whether `${!…}` lists names or keys, and reads nothing by a name that a variable holds.
fn lists(text: &str) -> bool {
    ["[@]", "[*]", "@", "*"].iter().any(|end| text.strip_suffix(end).is_some_and(is_name))
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|it| it == '_' || it.is_ascii_alphabetic())
        && characters.all(|it| it == '_' || it.is_ascii_alphanumeric())
}

fn is_number(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit())
        && text.chars().all(|it| matches!(it, '#' | '_') || it.is_ascii_alphanumeric())
}

/// Returns what stands between `${` and `}`.
fn inner(expansion: &str) -> &str {
    expansion.strip_prefix("${").and_then(|it| it.strip_suffix('}')).unwrap_or_default()
}
