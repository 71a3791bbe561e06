//! What a command is confined by: rules about files, the filter of system calls, fewer capabilities.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{Mode, OFlags};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::BpfProgram;

use super::syscalls;
use crate::SandboxLevel;

/// The newest form of rules that is asked for; a kernel that knows less enforces what it knows, and the self-test says
/// whether that is enough.
const NEWEST: ABI = ABI::V10;

/// Where programs, libraries and their settings live.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/etc",
    "/proc",
    "/sys",
    // What `/etc/resolv.conf` leads to.
    "/run/systemd/resolve",
    "/run/resolvconf",
];

/// Devices that hold nothing of anybody's.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What root keeps of its capabilities: those over its own files and processes.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// What is ready to be entered.
pub(super) struct Confinement {
    rules: Option<RulesetCreated>,
    filters: Vec<BpfProgram>,
}

/// What may be used beside the system's own.
pub(super) struct Allowed<'a> {
    /// Directories beneath which everything may be done.
    pub(super) write: &'a [OwnedFd],
    /// The same, by path.
    pub(super) private: Option<&'a Path>,
    /// What may be read and executed.
    pub(super) read: &'a [PathBuf],
}

impl Confinement {
    /// Prepares what a level asks for; `None` where it asks for nothing.
    pub(super) fn of(level: SandboxLevel, allowed: &Allowed<'_>) -> Result<Option<Self>, String> {
        if level < SandboxLevel::Files {
            return Ok(None);
        }
        let filters = syscalls::filters(level)?;
        let rules = rules(allowed).map_err(|error| error.to_string())?;
        Ok(Some(Self { rules: Some(rules), filters }))
    }

    /// Confines this process for good, and all that it starts.
    pub(super) fn enter(&mut self) -> Result<(), String> {
        let held = rustix::thread::capabilities(None).map_err(|error| error.to_string())?;
        let kept = held.permitted & KEPT;
        let sets = CapabilitySets {
            effective: held.effective & kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        };
        rustix::thread::set_capabilities(None, sets).map_err(|error| error.to_string())?;
        let rules = self.rules.take().ok_or("confined before")?;
        let reached = rules.restrict_self().map_err(|error| error.to_string())?;
        if reached.ruleset == RulesetStatus::NotEnforced {
            return Err("the kernel has no Landlock, or it is off".to_owned());
        }
        for filter in &self.filters {
            seccompiler::apply_filter(filter).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn rules(allowed: &Allowed<'_>) -> Result<RulesetCreated, landlock::RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    // Device files are doors to what the rules do not know of.
    let write = all & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;

    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let given = allowed.read.iter().map(PathBuf::as_path);
    for path in SYSTEM.iter().map(Path::new).chain(given) {
        rules = allow(rules, path, read)?;
    }
    for path in DEVICES {
        rules = allow(rules, Path::new(path), device)?;
    }
    if let Some(path) = allowed.private {
        rules = allow(rules, path, write)?;
    }
    for directory in allowed.write {
        rules = rules.add_rule(PathBeneath::new(directory.as_fd(), write))?;
    }
    Ok(rules)
}

/// Allows something beneath a path, if it leads anywhere.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(handle) = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(rules);
    };
    let is_directory = rustix::fs::fstat(&handle)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
    let access = if is_directory { access } else { access & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(handle, access))
}
