//! What the command reads from its environment, once and here.

#![expect(
    clippy::disallowed_methods,
    reason = "a face reads the environment into a value and passes it down"
)]

use std::ffi::OsString;
use std::path::PathBuf;

use haft::process::Launcher;
use haft::process::helper::Helper;

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// `HAFT_STATE_DIR`.
    pub(crate) state_dir: Option<PathBuf>,
    /// `HAFT_CONFIG_DIR`, else the platform's configuration directory for haft.
    pub(crate) config_dir: Option<PathBuf>,
    /// The platform's state directory for haft.
    pub(crate) platform_state_dir: Option<PathBuf>,
    /// The home folder.
    pub(crate) home: Option<PathBuf>,
    /// `HAFT_LOG`.
    pub(crate) log: Option<String>,
    /// The name of the user, for the record.
    pub(crate) user: Option<String>,
    /// The current directory.
    pub(crate) current_dir: Option<PathBuf>,
    /// Where the command itself lies.
    pub(crate) program: Option<PathBuf>,
    /// What was typed, the name of the command first.
    pub(crate) arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    helper: Option<Helper>,
    /// `TMPDIR`, else the usual place.
    temporary: PathBuf,
}

/// Variables that this file reads itself.
const OWN: [&str; 3] = ["HAFT_STATE_DIR", "HAFT_CONFIG_DIR", "HAFT_LOG"];

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn read(helper: Helper) -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        // The XDG rules: a relative path in one of these variables is ignored.
        let folder = |name: &str| text(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME");
        let beneath_home = |parts: &[&str]| {
            home.as_ref().map(|home| parts.iter().fold(home.clone(), |path, part| path.join(part)))
        };
        let haft = |path: PathBuf| path.join("haft");
        let (state, config): (&[&str], &[&str]) = if cfg!(target_os = "macos") {
            (&["Library", "Application Support"], &["Library", "Application Support"])
        } else {
            (&[".local", "state"], &[".config"])
        };
        Self {
            state_dir: text("HAFT_STATE_DIR").map(PathBuf::from),
            config_dir: text("HAFT_CONFIG_DIR")
                .map(PathBuf::from)
                .or_else(|| folder("XDG_CONFIG_HOME").or_else(|| beneath_home(config)).map(haft)),
            platform_state_dir: folder("XDG_STATE_HOME").or_else(|| beneath_home(state)).map(haft),
            log: text("HAFT_LOG"),
            home,
            user: text("USER").or_else(|| text("LOGNAME")),
            current_dir: std::env::current_dir().ok(),
            program: std::env::current_exe().ok(),
            arguments: std::env::args_os().collect(),
            variables: std::env::vars_os().collect(),
            helper: Some(helper),
            temporary: folder("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp")),
        }
    }

    /// Tells whether one JSON object was asked for, by a command line that may not be readable otherwise.
    pub(crate) fn wants_json(&self) -> bool {
        self.arguments.iter().take_while(|it| *it != "--").any(|it| it == "--json")
    }

    /// Returns the values of the variables whose name is one of a secret. Short ones are words of everyday.
    pub(crate) fn secrets(&self, is_secret_name: impl Fn(&str) -> bool) -> Vec<String> {
        const BYTES_MIN: usize = 8;
        let text = self
            .variables
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        text.filter(|(name, value)| value.len() >= BYTES_MIN && is_secret_name(name))
            .map(|(_, value)| value.to_owned())
            .collect()
    }

    /// Makes what runs programs, with this process as the helper.
    pub(crate) fn launcher(&self) -> Launcher {
        Launcher::new(self.helper.clone(), &self.temporary)
    }

    /// Returns all variables, of which programs get what their settings name.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.variables.iter().cloned()
    }

    /// Returns the value of a variable that is text and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.variables.iter().find(|(it, _)| it == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }

    /// Returns the settings among the variables.
    pub(crate) fn settings(&self) -> Result<haft::config::Environment, haft::config::ConfigError> {
        haft::config::Environment::from_variables(self.variables.iter().cloned(), &OWN)
    }
}

/// Returns the terminal's width where `COLUMNS` says one.
pub(crate) fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}
