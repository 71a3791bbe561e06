//! What a person decides about commands.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use haft_process::{Allowance, SandboxLevel};

/// What helps where a program or a file lies outside what commands may read.
pub(crate) const READ_HINT: &str =
    "a person can let commands read more with the setting `programs.read`";

/// What a person decides about commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashSettings {
    /// How far commands are confined where that can be had.
    pub sandbox: SandboxLevel,
    /// The level below which nothing is started.
    pub sandbox_at_least: SandboxLevel,
    /// What commands may use up.
    pub allowance: Allowance,
    /// Files and directories that commands may read beside those of the system.
    pub read: Vec<PathBuf>,
    /// Variables that commands get, beside those that keep programs from waiting for somebody.
    pub environment: Vec<(OsString, OsString)>,
}

/// Variables that are passed on: where programs are, and how a person writes.
const PASSED_ON: &[&str] = &["PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "USER", "LOGNAME"];

/// Variables that keep programs from asking, paging, and drawing.
const QUIET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    // A folder of the workspace that looks like a bare repository could name programs in its configuration.
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    ("SSH_ASKPASS", "false"),
    ("SUDO_ASKPASS", "/bin/false"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Where programs are looked for when nobody says.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Default for BashSettings {
    /// Confined as far as can be, whatever that comes to, with the usual allowance, nothing further to read and an empty
    /// environment.
    fn default() -> Self {
        Self {
            sandbox: SandboxLevel::FilesNet,
            sandbox_at_least: SandboxLevel::None,
            allowance: Allowance::default(),
            read: Vec::new(),
            environment: Vec::new(),
        }
    }
}

impl BashSettings {
    /// Takes from an environment what commands get of it: the usual variables, and those that `also` names. A name that
    /// ends in `*` stands for any rest; one with `=` and a value is set to it.
    pub fn with_environment<'a>(
        mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        also: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        let is_passed_on = |name: &OsStr| {
            let names = PASSED_ON.iter().copied().chain(also.clone());
            let mut names = names.into_iter();
            names.any(|known| match known.strip_suffix('*') {
                Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
                None => name == known,
            })
        };
        let taken = environment.into_iter().filter(|(name, _)| is_passed_on(name));
        self.environment.extend(taken);
        let set = also.into_iter().filter_map(|it| it.split_once('='));
        self.environment.extend(set.map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Returns the whole environment of a command, but for what the launcher sets.
    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = Vec::new();
        let quiet = QUIET
            .iter()
            .chain(&[("PATH", PATH)])
            .map(|(name, value)| ((*name).into(), (*value).into()));
        for (name, value) in quiet.chain(self.environment.iter().cloned()) {
            match env.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => env.push((name, value)),
            }
        }
        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(also: &[&str]) -> Vec<String> {
        let environment = [
            ("PATH", "/opt/bin"),
            ("LC_TIME", "C"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("CARGO_HOME", "/c"),
            ("CI", "true"),
            ("TERM", "xterm"),
        ];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        let settings = BashSettings::default().with_environment(environment, also.iter().copied());
        let env = settings.env().into_iter();
        env.map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
    }

    #[test]
    fn only_what_is_listed_is_passed_on() {
        let env = taken(&[]);
        assert!(env.contains(&"PATH=/opt/bin".to_owned()) && env.contains(&"LC_TIME=C".to_owned()));
        assert!(env.contains(&"TERM=dumb".to_owned()));
        assert!(!env.iter().any(|it| it.starts_with("AWS") || it.starts_with('C')), "{env:?}");
    }

    #[test]
    fn a_person_may_set_values() {
        let env = taken(&["CARGO_HOME", "CARGO_HOME=/other=place"]);
        assert!(env.contains(&"CARGO_HOME=/other=place".to_owned()), "{env:?}");
        assert!(!env.contains(&"CARGO_HOME=/c".to_owned()), "{env:?}");
    }

    #[test]
    fn a_person_may_add_names_and_whole_families() {
        assert!(taken(&["CARGO_*"]).contains(&"CARGO_HOME=/c".to_owned()));
        assert!(taken(&["TERM"]).contains(&"TERM=xterm".to_owned()));
    }
}
