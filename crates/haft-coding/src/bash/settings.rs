//! What a person decides about commands.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use haft_process::{Allowance, SandboxLevel};
use haft_text::visible_line;

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
    /// The file a person writes these settings into, there or not, so that hints can name it.
    pub file: Option<PathBuf>,
    /// Where cargo and rustup keep what they have, so that hints can name that.
    pub rust_homes: Option<[PathBuf; 2]>,
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
            file: None,
            rust_homes: None,
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
        let environment: Vec<_> = environment.into_iter().collect();
        self.rust_homes = rust_homes(&environment);
        let taken = environment.into_iter().filter(|(name, _)| is_passed_on(name));
        self.environment.extend(taken);
        let set = also.into_iter().filter_map(|it| it.split_once('='));
        self.environment.extend(set.map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Says which line sets something, and where it is written.
    pub(crate) fn to_set(&self, line: &str) -> String {
        let file = self.file.as_ref().map(|it| format!("`{}`", it.display()));
        let file = file.unwrap_or_else(|| "the user's config.toml".to_owned());
        format!("`{}` under `[programs]` in {}", visible_line(line), visible_line(&file))
    }

    /// Says what helps where a program or a file lies outside what commands may read.
    pub(crate) fn read_hint(&self) -> String {
        format!("a person can let commands read more: {}", self.to_set("read = [\"/full/path\"]"))
    }

    /// Says what helps where a program cannot be started for where it lies.
    pub(crate) fn program_hint(&self, program: &str) -> String {
        let folder = Path::new(program).parent().filter(|it| it.is_absolute());
        match folder.and_then(|it| toml(it.to_str()?)) {
            Some(folder) => {
                let line = self.to_set(&format!("read = [{folder}]"));
                format!("a person can let commands start it: {line}")
            }
            None => self.read_hint(),
        }
    }

    /// Says what helps where programs cannot be confined as far as is demanded.
    pub(crate) fn level_hint(&self) -> String {
        let line = self.to_set("sandbox_at_least = \"none\"");
        format!("a person can let commands run confined less: {line}")
    }

    /// Says what helps where a toolchain for Rust does not find what it needs.
    pub(crate) fn rust_hint(&self) -> String {
        let homes = self.rust_homes.as_ref().map(|homes| homes.each_ref().map(|it| it.to_str()));
        let [cargo, rustup] = match homes {
            Some([Some(cargo), Some(rustup)]) => [cargo, rustup],
            _ => ["/home/you/.cargo", "/home/you/.rustup"],
        };
        let given = [format!("CARGO_HOME={cargo}"), format!("RUSTUP_HOME={rustup}")];
        let list = |one: &str, other: &str| Some(format!("[{}, {}]", toml(one)?, toml(other)?));
        let [of_cargo, of_rustup] = &given;
        let (Some(read), Some(set)) = (list(cargo, rustup), list(of_cargo, of_rustup)) else {
            return self.read_hint();
        };
        let lines = self.to_set(&format!("read = {read}"));
        let set = visible_line(&set).into_owned();
        format!(
            "a person can let cargo use its own folders: {lines}, and beside it `environment = {set}`"
        )
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

/// Finds where cargo and rustup keep what they have: where the environment says, else beneath the home folder.
fn rust_homes(environment: &[(OsString, OsString)]) -> Option<[PathBuf; 2]> {
    let of = |name: &str| {
        let mut named = environment.iter().filter(|(known, _)| known == name);
        named.next().map(|(_, value)| PathBuf::from(value)).filter(|it| it.is_absolute())
    };
    let beneath_home = |name: &str| Some(of("HOME")?.join(name));
    let cargo = of("CARGO_HOME").or_else(|| beneath_home(".cargo"))?;
    let rustup = of("RUSTUP_HOME").or_else(|| beneath_home(".rustup"))?;
    Some([cargo, rustup])
}

/// Writes a text as TOML has it, which is as JSON does.
fn toml(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
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

    #[test]
    fn hints_say_what_to_write_and_where() {
        let environment = [("HOME", "/home/ada"), ("RUSTUP_HOME", "/opt/rust\"up")];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        let mut settings = BashSettings::default().with_environment(environment, []);
        insta::assert_snapshot!(settings.read_hint(), @r#"a person can let commands read more: `read = ["/full/path"]` under `[programs]` in the user's config.toml"#);
        settings.file = Some("/home/ada/.config/haft/config.toml".into());
        let hints = [
            settings.rust_hint(),
            settings.program_hint("/home/ada/.local/bin/ruff"),
            settings.program_hint("ruff"),
        ];
        insta::assert_snapshot!(hints.join("\n"), @r#"
        a person can let cargo use its own folders: `read = ["/home/ada/.cargo", "/opt/rust\"up"]` under `[programs]` in `/home/ada/.config/haft/config.toml`, and beside it `environment = ["CARGO_HOME=/home/ada/.cargo", "RUSTUP_HOME=/opt/rust\"up"]`
        a person can let commands start it: `read = ["/home/ada/.local/bin"]` under `[programs]` in `/home/ada/.config/haft/config.toml`
        a person can let commands read more: `read = ["/full/path"]` under `[programs]` in `/home/ada/.config/haft/config.toml`
        "#);
    }
}
