//! What a schema is made of, and what checking a value against it can cost.
//!
//! References let a schema of a few lines multiply: thirty definitions that each refer twice to the next one make a
//! billion evaluations of one value. A survey finds such schemas when they are registered, and for recursive ones it
//! bounds the work for each value before any of it is done.

mod cost;
mod references;

use std::collections::HashMap;

use haft_protocol::limits::{SCHEMA_DEPTH, SCHEMA_NODES};
use serde_json::Value;

use crate::error::SchemaError;
use crate::keywords::{Applies, Holding, Place, children};
use crate::pointer;
pub(crate) use cost::Cost;
use references::{Reference, References};
pub(crate) use references::{decode_percent, encode_percent};

/// Patterns in one schema: each may compile to a megabyte.
const PATTERNS: usize = 256;
/// Evaluations of one value, its parts not counted.
const EXPANSION: usize = 10_000;
/// Evaluations nested in each other. The validator recurses, and this many fit the two megabytes of a worker's stack
/// several times over.
const PATH: usize = 400;

/// A schema of the document and where its edges lead.
#[derive(Debug, Default)]
struct Node {
    /// Applied to the same value.
    same: Vec<usize>,
    /// Applied to the property of that name.
    named: HashMap<String, usize>,
    /// Applied to every property, by pattern or to its name.
    every: Vec<usize>,
    /// Applied to properties that are not in `named`.
    others: Vec<usize>,
    /// Applied to items, by position.
    prefix: Vec<usize>,
    /// Applied to items.
    items: Vec<usize>,
}

impl Node {
    fn targets(&self) -> impl Iterator<Item = usize> + '_ {
        let lists = [&self.same, &self.every, &self.others, &self.prefix, &self.items];
        lists.into_iter().flatten().chain(self.named.values()).copied()
    }

    fn is_leaf(&self) -> bool {
        self.targets().next().is_none()
    }

    fn connect(&mut self, at: Holding<'_>, to: usize) {
        match (at.applies, at.keyword, at.place) {
            (Applies::Nothing, ..) => {}
            (Applies::SameValue, ..) => self.same.push(to),
            (_, "properties", Place::Name(name)) => {
                self.named.insert(name.to_owned(), to);
            }
            (_, "additionalProperties" | "unevaluatedProperties", _) => self.others.push(to),
            (_, "prefixItems", _) => self.prefix.push(to),
            (_, "items" | "unevaluatedItems" | "contains", _) => self.items.push(to),
            _ => self.every.push(to),
        }
    }
}

/// The schemas of a document as a graph.
#[derive(Debug)]
pub(crate) struct Survey {
    nodes: Vec<Node>,
    /// Evaluations that follow from one evaluation of the root, each edge taken once; without bound when recursive.
    weight: u64,
    patterns: Vec<(String, String)>,
}

impl Survey {
    /// Surveys a document whose JSON nests no deeper than the JSON parser allows.
    ///
    /// # Errors
    ///
    /// Fails when there are too many schemas, patterns or levels, when a reference leaves the document, points to
    /// nothing or loops, or when references multiply.
    pub(crate) fn of(root: &Value) -> Result<Self, SchemaError> {
        let mut walk = Walk::new(root);
        walk.run()?;
        let Walk { nodes, pointers, patterns, .. } = walk;
        let survey = Self { nodes, weight: u64::MAX, patterns };
        let weight = survey.weigh(&pointers)?;
        Ok(Self { weight, ..survey })
    }

    /// Lists the patterns as (pointer, pattern).
    pub(crate) fn patterns(&self) -> &[(String, String)] {
        &self.patterns
    }

    fn weigh(&self, pointers: &[String]) -> Result<u64, SchemaError> {
        let shown =
            |node: usize| pointers.get(node).map(|it| pointer::shown(it)).unwrap_or_default();
        let intricate = |node: usize, limit, what| SchemaError::TooIntricate {
            pointer: shown(node),
            limit,
            what,
        };
        let in_place = Order::of(self.nodes.len(), |node| self.same(node));
        if let Some(&stuck) = in_place.cyclic.first() {
            return Err(SchemaError::ReferenceLoop { pointer: shown(stuck) });
        }
        let expansion = in_place.sums(|node| self.same(node));
        if let Some(node) = expansion.iter().position(|&count| count > EXPANSION as u64) {
            return Err(intricate(node, EXPANSION, "evaluations of one value"));
        }
        let all = Order::of(self.nodes.len(), |node| self.targets(node));
        let longest = all.longest(|node| self.targets(node)) + all.cyclic.len();
        if longest > PATH {
            return Err(intricate(0, PATH, "levels"));
        }
        let weight = all.sums(|node| self.targets(node)).first().copied();
        Ok(weight.filter(|_| all.cyclic.is_empty()).unwrap_or(u64::MAX))
    }

    fn same(&self, node: usize) -> Vec<usize> {
        self.nodes.get(node).map(|node| node.same.clone()).unwrap_or_default()
    }

    fn targets(&self, node: usize) -> Vec<usize> {
        self.nodes.get(node).map(|node| node.targets().collect()).unwrap_or_default()
    }
}

/// The nodes of a graph with the ends of all edges before their beginnings, as far as there are no cycles.
struct Order {
    leaves_first: Vec<usize>,
    /// Nodes on a cycle, or before one.
    cyclic: Vec<usize>,
}

impl Order {
    fn of(count: usize, targets: impl Fn(usize) -> Vec<usize>) -> Self {
        let mut waiting = vec![0_usize; count];
        let mut sources = vec![Vec::new(); count];
        for (node, open) in waiting.iter_mut().enumerate() {
            let targets = targets(node);
            *open = targets.len();
            for target in targets {
                if let Some(sources) = sources.get_mut(target) {
                    sources.push(node);
                }
            }
        }
        let mut leaves_first: Vec<usize> = waiting
            .iter()
            .enumerate()
            .filter(|(_, open)| **open == 0)
            .map(|(node, _)| node)
            .collect();
        let mut next = 0;
        while let Some(&node) = leaves_first.get(next) {
            next += 1;
            for source in sources.get(node).into_iter().flatten() {
                if let Some(open) = waiting.get_mut(*source) {
                    *open -= 1;
                    if *open == 0 {
                        leaves_first.push(*source);
                    }
                }
            }
        }
        let open = waiting.iter().enumerate().filter(|(_, open)| **open > 0);
        let cyclic = open.map(|(node, _)| node).collect();
        Self { leaves_first, cyclic }
    }

    /// Counts each node and everything reached from it, once for each way that leads there.
    fn sums(&self, targets: impl Fn(usize) -> Vec<usize>) -> Vec<u64> {
        self.fold(targets, |ways| ways.fold(1_u64, u64::saturating_add))
    }

    fn longest(&self, targets: impl Fn(usize) -> Vec<usize>) -> usize {
        let lengths = self.fold(targets, |below| below.max().unwrap_or(0) + 1);
        lengths.into_iter().max().unwrap_or(0) as usize
    }

    fn fold(
        &self,
        targets: impl Fn(usize) -> Vec<usize>,
        combine: impl Fn(&mut dyn Iterator<Item = u64>) -> u64,
    ) -> Vec<u64> {
        let mut values = vec![0_u64; self.leaves_first.len() + self.cyclic.len()];
        for &node in &self.leaves_first {
            let targets = targets(node);
            let mut below = targets.iter().filter_map(|target| values.get(*target).copied());
            let value = combine(&mut below);
            if let Some(slot) = values.get_mut(node) {
                *slot = value;
            }
        }
        values
    }
}

/// The walk over a document that finds its schemas, each once.
struct Walk<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    pointers: Vec<String>,
    patterns: Vec<(String, String)>,
    seen: HashMap<*const Value, usize>,
    /// Found, and not looked into yet: the schema, its node, its level.
    open: Vec<(&'s Value, usize, usize)>,
    references: References<'s>,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        Self {
            root,
            nodes: Vec::new(),
            pointers: Vec::new(),
            patterns: Vec::new(),
            seen: HashMap::new(),
            open: Vec::new(),
            references: References::default(),
        }
    }

    fn run(&mut self) -> Result<(), SchemaError> {
        self.discover(self.root, String::new(), 1)?;
        loop {
            while let Some((schema, node, level)) = self.open.pop() {
                self.look_into(schema, node, level)?;
            }
            // Anchors count only when the whole document has been seen.
            let Some(reference) = self.references.next() else { return Ok(()) };
            for target in self.references.resolve(self.root, &reference)? {
                let to = self.discover(target, reference.target_pointer(), 1)?;
                if let Some(from) = self.nodes.get_mut(reference.from) {
                    from.same.push(to);
                }
            }
        }
    }

    fn discover(
        &mut self,
        schema: &'s Value,
        pointer: String,
        level: usize,
    ) -> Result<usize, SchemaError> {
        if level > SCHEMA_DEPTH {
            return Err(SchemaError::TooDeep { limit: SCHEMA_DEPTH });
        }
        let next = self.nodes.len();
        let node = *self.seen.entry(std::ptr::from_ref(schema)).or_insert(next);
        if node == next {
            if next >= SCHEMA_NODES {
                return Err(SchemaError::TooMany { limit: SCHEMA_NODES, what: "sub-schemas" });
            }
            self.nodes.push(Node::default());
            self.pointers.push(pointer);
            self.open.push((schema, node, level));
        }
        Ok(node)
    }

    fn look_into(
        &mut self,
        schema: &'s Value,
        node: usize,
        level: usize,
    ) -> Result<(), SchemaError> {
        let Some(object) = schema.as_object() else { return Ok(()) };
        let pointer = self.pointers.get(node).cloned().unwrap_or_default();
        self.collect_patterns(object, &pointer)?;
        self.references.note_anchors(object, schema);
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(reference)) = object.get(keyword) {
                self.references.add(Reference::new(node, &pointer, keyword, reference)?);
            }
        }
        for (at, child) in children(schema) {
            let mut child_pointer = pointer.clone();
            at.push_to(&mut child_pointer);
            let to = self.discover(child, child_pointer, level + 1)?;
            if let Some(from) = self.nodes.get_mut(node) {
                from.connect(at, to);
            }
        }
        Ok(())
    }

    fn collect_patterns(
        &mut self,
        object: &serde_json::Map<String, Value>,
        pointer: &str,
    ) -> Result<(), SchemaError> {
        if let Some(Value::String(pattern)) = object.get("pattern") {
            self.patterns.push((format!("{pointer}/pattern"), pattern.clone()));
        }
        if let Some(Value::Object(by_pattern)) = object.get("patternProperties") {
            for pattern in by_pattern.keys() {
                let pointer = pointer::joined(&format!("{pointer}/patternProperties"), pattern);
                self.patterns.push((pointer, pattern.clone()));
            }
        }
        if self.patterns.len() > PATTERNS {
            return Err(SchemaError::TooMany { limit: PATTERNS, what: "patterns" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
