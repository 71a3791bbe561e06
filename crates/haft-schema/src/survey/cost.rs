//! What checking one value costs.

use std::collections::HashMap;

use serde_json::Value;

use super::{Node, PATH, Survey};

/// Evaluations up to which every error is collected.
const MODEST: u64 = 50_000;
/// Evaluations beyond which a value is refused unchecked, unless it has nearly as many parts.
const MOST: u64 = 500_000;

/// What checking one value costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Little enough to collect every error.
    Modest,
    /// Enough that the first error has to do.
    High,
    /// Too much to begin.
    Excessive,
}

impl Survey {
    /// Bounds the evaluations that checking a value takes; `parts` is the number of values in it, itself included.
    pub(crate) fn cost(&self, value: &Value, parts: usize) -> Cost {
        let parts = parts as u64;
        if self.weight.saturating_mul(parts) <= MODEST {
            return Cost::Modest;
        }
        let most = MOST.max(parts.saturating_mul(8));
        let mut count = Count { nodes: &self.nodes, most, steps: 0, known: HashMap::new() };
        match count.evaluations(0, value, 0) {
            Some(evaluations) if evaluations <= MODEST => Cost::Modest,
            Some(evaluations) if evaluations <= most => Cost::High,
            _ => Cost::Excessive,
        }
    }
}

struct Count<'s> {
    nodes: &'s [Node],
    most: u64,
    steps: u64,
    known: HashMap<(usize, *const Value), u64>,
}

impl Count<'_> {
    /// Counts the evaluations of `value` by `node` and everything below; nothing when that is too many or too deep.
    fn evaluations(&mut self, node: usize, value: &Value, depth: usize) -> Option<u64> {
        let nodes = self.nodes;
        let schema = nodes.get(node)?;
        if schema.is_leaf() {
            return Some(1);
        }
        let key = (node, std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        self.steps += 1;
        if self.steps > self.most || depth > PATH {
            return None;
        }
        let mut total = 1_u64;
        let mut add = |count: &mut Self, to: usize, value: &Value| -> Option<()> {
            total = total.checked_add(count.evaluations(to, value, depth + 1)?)?;
            (total <= count.most).then_some(())
        };
        for to in &schema.same {
            add(self, *to, value)?;
        }
        match value {
            Value::Object(properties) => {
                for (name, value) in properties {
                    let own = schema.named.get(name);
                    let others = if own.is_some() { &[] } else { schema.others.as_slice() };
                    for to in own.into_iter().chain(others).chain(&schema.every) {
                        add(self, *to, value)?;
                    }
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    for to in schema.prefix.get(index).into_iter().chain(&schema.items) {
                        add(self, *to, value)?;
                    }
                }
            }
            _ => {}
        }
        self.known.insert(key, total);
        Some(total)
    }
}
