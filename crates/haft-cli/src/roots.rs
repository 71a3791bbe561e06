//! Which directories tools may look into, and why these.

use std::fmt;
use std::path::PathBuf;

use crate::assemble::UserMistake;
use crate::command::Invocation;
use crate::files;
use crate::print::Tone;

/// A directory that tools may look into.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// The directory.
    pub(crate) path: PathBuf,
    /// Why it is a root.
    pub(crate) why: Why,
}

/// Why a directory is a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It was named with `--root`.
    Given,
    /// The command was started in it.
    Here,
    /// It is the project that the command was started in.
    Project,
    /// The configuration names it.
    Configured,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "given with `--root`",
            Self::Here => "the current directory",
            Self::Project => "the nearest folder above with `.haft`",
            Self::Configured => "from `roots.extra`",
        })
    }
}

impl Invocation<'_> {
    /// Returns the roots: those given, else the project that the current directory lies in, else that directory alone.
    pub(crate) fn roots(&self) -> anyhow::Result<Vec<Root>> {
        let here = || {
            self.environment.current_dir.clone().ok_or_else(|| {
                UserMistake::new("the current directory is gone").hint("name one with `--root DIR`")
            })
        };
        if self.global.root.is_empty() {
            let here = here()?;
            let project = files::project_around(&here, self.environment.home.as_deref());
            let (path, why) = match project {
                Some(project) => (project, Why::Project),
                None => (here, Why::Here),
            };
            return Ok(vec![Root { path, why }]);
        }
        let given = self.global.root.iter().map(|root| {
            let path = if root.is_absolute() { root.clone() } else { here()?.join(root) };
            Ok(Root { path, why: Why::Given })
        });
        given.collect()
    }

    /// Says which root is in force where it is another than the current directory: paths begin there, and tools see more
    /// than where the command was started.
    pub(crate) fn remark_on_root(&self, roots: &[Root]) {
        if let Some(Root { path, why: why @ Why::Project }) = roots.first() {
            let text = format!("`{}`, {why}; paths begin there", path.display());
            self.printer.aside(Tone::Faint, "root", &text);
        }
    }
}
