//! How things stand once some steps of a plan are done.

use std::sync::Arc;

use haft_protocol::{Digest, FileState, Timestamp};

use super::Disk;

/// A disk, and on top of it what the steps planned so far make of it.
pub(super) struct Overlay<'d> {
    disk: &'d dyn Disk,
    layers: Vec<Layer>,
}

enum Layer {
    Set {
        path: String,
        state: Option<FileState>,
        content: Option<Arc<[u8]>>,
    },
    Moved {
        from: String,
        to: String,
    },
    /// Something stays in the way, and nothing before it can be taken back.
    Stays {
        path: String,
    },
}

/// Where a path leads through the layers.
enum Found<'o> {
    Layer(Option<&'o FileState>, Option<&'o Arc<[u8]>>),
    /// To a path of the disk.
    Disk(String),
    Nothing,
    Stays,
}

impl<'d> Overlay<'d> {
    pub(super) fn new(disk: &'d dyn Disk) -> Self {
        Self { disk, layers: Vec::new() }
    }

    pub(super) fn set(&mut self, path: &str, state: Option<FileState>, content: Option<Arc<[u8]>>) {
        self.layers.push(Layer::Set { path: path.to_owned(), state, content });
    }

    pub(super) fn moved(&mut self, from: &str, to: &str) {
        self.layers.push(Layer::Moved { from: from.to_owned(), to: to.to_owned() });
    }

    pub(super) fn stays(&mut self, path: &str) {
        self.layers.push(Layer::Stays { path: path.to_owned() });
    }

    fn find(&self, path: &str) -> Found<'_> {
        let mut path = path.to_owned();
        for layer in self.layers.iter().rev() {
            match layer {
                Layer::Set { path: set, state, content } if *set == path => {
                    return Found::Layer(state.as_ref(), content.as_ref());
                }
                Layer::Stays { path: stays } if *stays == path => return Found::Stays,
                Layer::Moved { from, to } => {
                    if let Some(rest) = beneath(&path, to) {
                        path = format!("{from}{rest}");
                    } else if beneath(&path, from).is_some() {
                        return Found::Nothing;
                    }
                }
                Layer::Set { .. } | Layer::Stays { .. } => {}
            }
        }
        Found::Disk(path)
    }

    pub(super) fn state(&self, path: &str) -> Result<Option<FileState>, String> {
        match self.find(path) {
            Found::Layer(state, _) => Ok(state.cloned()),
            Found::Disk(path) => self.disk.state(&path),
            Found::Nothing => Ok(None),
            Found::Stays => Err("a later change of it stays".to_owned()),
        }
    }

    /// Tells whether what stands at a path was made after a time; what a step puts there was there before.
    pub(super) fn is_younger(&self, path: &str, than: Timestamp) -> bool {
        match self.find(path) {
            Found::Disk(path) => self.disk.is_younger(&path, than),
            Found::Layer(..) | Found::Nothing | Found::Stays => false,
        }
    }

    pub(super) fn content(&self, path: &str) -> Result<Arc<[u8]>, String> {
        match self.find(path) {
            Found::Layer(_, Some(content)) => Ok(Arc::clone(content)),
            Found::Disk(path) => Ok(self.disk.content(&path)?.into()),
            Found::Layer(_, None) | Found::Nothing | Found::Stays => {
                Err("it is no file".to_owned())
            }
        }
    }

    /// Returns the names in a directory that are left in it.
    pub(super) fn names(&self, path: &str) -> Result<Vec<String>, String> {
        let mut names = match self.find(path) {
            Found::Disk(real) => self.disk.names(&real)?,
            Found::Layer(..) | Found::Nothing | Found::Stays => Vec::new(),
        };
        for layer in &self.layers {
            let (Layer::Set { path: there, .. } | Layer::Moved { to: there, .. }) = layer else {
                continue;
            };
            let name = beneath(there, path).and_then(|rest| rest.strip_prefix('/'));
            names.extend(name.filter(|name| !name.contains('/')).map(ToOwned::to_owned));
        }
        names.sort_unstable();
        names.dedup();
        // What cannot be told counts as being there.
        names.retain(|name| !matches!(self.state(&format!("{path}/{name}")), Ok(None)));
        Ok(names)
    }

    pub(super) fn kept(&self, digest: Digest) -> Option<Arc<[u8]>> {
        self.disk.kept(digest)
    }
}

/// Returns what follows a directory's path in a path that is it or lies beneath it.
fn beneath<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(directory)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
