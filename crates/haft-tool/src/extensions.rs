//! Values by type.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// A bag of shared values with at most one of each type, by which a door hands its own types to bodies through
/// contracts that do not know them. There are a few of them at most, each made anew for many calls.
#[derive(Clone, Default)]
pub struct Extensions(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

impl Extensions {
    /// Makes an empty bag.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value in, in place of one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.retain(|(kind, _)| *kind != TypeId::of::<T>());
        self.0.push((TypeId::of::<T>(), Arc::new(value)));
    }

    /// Returns the value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let (_, value) = self.0.iter().find(|(kind, _)| *kind == TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({} values)", self.0.len())
    }
}
