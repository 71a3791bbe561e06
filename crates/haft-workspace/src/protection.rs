//! Which files hold secrets, by name, and which only haft's owner may write.

pub(crate) mod lines;
pub(crate) mod own;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use crate::error::WorkspaceError;
use crate::globs::Globs;

use lines::{Form, LINES, Line, WRITE_LINES};
use own::{Own, OwnPlaces};

/// The protection list: names that no tool reads, lists content of, or searches, and names that no tool writes.
///
/// It looks at every name of a path beneath its root, with case folded, at the name a caller wrote and at the real one
/// behind links. The root itself is the operator's choice and is not looked at. Backups and copies (`.env~`,
/// `.netrc.bak`, `.id_rsa.swp`, `server.key.1`, `copy of .env`) count as what they are made of.
///
/// Protection goes by names: a secret in `notes.txt` is not found. `.git/config` stays readable although a remote's URL
/// may hold a password; so do `.yarnrc.yml`, `*.env`, `*.tfvars` and `*.tfstate`, which more often hold none.
///
/// ```
/// use std::path::Path;
/// use haft_workspace::Protection;
///
/// let protection = Protection::standard();
/// assert!(protection.of_path(Path::new("app/.ENV.local")).is_some());
/// assert!(protection.of_path(Path::new("app/.env.example")).is_none());
/// ```
#[derive(Clone)]
pub struct Protection(Arc<Tables>, Arc<[Own]>);

struct Tables {
    names: HashMap<&'static [u8], &'static Line>,
    endings: HashMap<&'static [u8], &'static Line>,
    within: HashMap<&'static [u8], Vec<(&'static str, &'static Line)>>,
    families: Vec<(lines::IsMember, &'static Line)>,
    extra: Globs,
    except: Globs,
}

/// Why a path is protected: the name that is, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// The protected name, as it is shown.
    pub name: String,
    /// What such a file holds.
    pub why: &'static str,
}

impl fmt::Display for Protected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is protected: {}", self.name, self.why)
    }
}

impl Default for Protection {
    fn default() -> Self {
        Self::standard()
    }
}

impl Protection {
    /// Makes the list that haft comes with.
    pub fn standard() -> Self {
        Self::with_globs(Globs::none(), Globs::none())
    }

    /// Makes the list that haft comes with, plus names of the operator's, minus exceptions.
    ///
    /// A glob without a slash is matched with each name, one with a slash with the path from the root to that name. An
    /// exception lifts the protection of the one name it matches: a file in a protected directory stays protected. Case
    /// matters to exceptions only. Exceptions belong to the operator's own configuration; a project's may only add.
    ///
    /// # Errors
    ///
    /// Fails on the first glob that cannot be read.
    pub fn extended<S: AsRef<str>>(extra: &[S], except: &[S]) -> Result<Self, WorkspaceError> {
        Ok(Self::with_globs(Globs::folded(extra)?, Globs::new(except)?))
    }

    fn with_globs(extra: Globs, except: Globs) -> Self {
        let mut tables = Tables {
            names: HashMap::new(),
            endings: HashMap::new(),
            within: HashMap::new(),
            families: Vec::new(),
            extra,
            except,
        };
        for line in LINES {
            match line.form {
                Form::Name(name) => drop(tables.names.insert(name.as_bytes(), line)),
                Form::Ending(ending) => drop(tables.endings.insert(ending.as_bytes(), line)),
                Form::Within(parent, name) => {
                    tables.within.entry(name.as_bytes()).or_default().push((parent, line));
                }
                Form::Family(is_member) => tables.families.push((is_member, line)),
            }
        }
        Self(Arc::new(tables), Arc::default())
    }

    /// Keeps tools out of a directory that haft itself lives in, whatever name they come to it by.
    ///
    /// Nothing in it is read, listed, searched or written, it is not moved nor are the directories and links on the way to
    /// it, and no program runs that could come there. It need not exist yet. `why` says what it holds.
    #[must_use]
    pub fn keeping_out_of(mut self, directory: PathBuf, why: &'static str) -> Self {
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        self.1 = self.1.iter().cloned().chain([Own { path: directory, why }]).collect();
        self
    }

    /// Looks where the directories stand that tools are kept out of.
    pub(crate) fn own_places(&self) -> OwnPlaces {
        OwnPlaces::now(&self.1)
    }

    /// Looks at every name of a path from its root, and returns the first that is protected.
    pub fn of_path(&self, path: &Path) -> Option<Protected> {
        let mut parent = PathBuf::new();
        for name in path {
            if let Some(why) = self.of_name(&parent, name) {
                return Some(why);
            }
            parent.push(name);
        }
        None
    }

    /// Looks at one name in a directory whose own path was looked at before.
    pub(crate) fn of_name(&self, parent: &Path, name: &OsStr) -> Option<Protected> {
        let why = self.why(parent, name)?;
        Some(Protected { name: crate::name::shown(name).into_owned(), why })
    }

    /// Tells whether a directory of this name holds names that are protected nowhere else.
    pub(crate) fn is_place(&self, name: &OsStr) -> bool {
        with_folded(name.as_bytes(), |name| {
            let name = without_backup(name);
            self.0.within.values().flatten().any(|(place, _)| place.as_bytes() == name)
        })
    }

    /// Tells whether one name in a directory is protected.
    pub(crate) fn covers(&self, parent: &Path, name: &OsStr) -> bool {
        self.why(parent, name).is_some()
    }

    fn why(&self, parent: &Path, name: &OsStr) -> Option<&'static str> {
        let why =
            with_folded(name.as_bytes(), |name| self.0.standard(parent, name)).or_else(|| {
                self.0
                    .extra
                    .match_name_or_path(parent, name)
                    .then_some("the operator's list names it")
            })?;
        (!self.0.except.match_name_or_path(parent, name)).then_some(why)
    }

    /// Looks for a name of a path that tools may read and must not write.
    pub fn of_write(&self, path: &Path) -> Option<Protected> {
        path.iter().find_map(|name| {
            let line = with_folded(name.as_bytes(), |folded| {
                WRITE_LINES.iter().find(|(guarded, _)| guarded.as_bytes() == folded)
            })?;
            Some(Protected { name: crate::name::shown(name).into_owned(), why: line.1 })
        })
    }
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protection")
            .field("extra", &self.0.extra)
            .field("except", &self.0.except)
            .finish_non_exhaustive()
    }
}

impl Tables {
    fn standard(&self, parent: &Path, name: &[u8]) -> Option<&'static str> {
        let name = without_backup(name);
        self.listed(parent, name).or_else(|| self.listed(parent, swapped(name)?))
    }

    fn listed(&self, parent: &Path, name: &[u8]) -> Option<&'static str> {
        let by_name = self.names.get(name);
        let by_ending = || {
            let dot = name.iter().rposition(|byte| *byte == b'.')?;
            self.endings.get(name.get(dot..)?)
        };
        let by_family = || {
            // No family begins with another letter, and most names do.
            matches!(name.first(), Some(b'.' | b's' | b'c' | b'i')).then_some(())?;
            self.families.iter().find(|(is_member, _)| is_member(name)).map(|(_, line)| line)
        };
        let by_place = || {
            let places = self.within.get(name)?;
            let parent = parent.file_name()?.as_bytes();
            let is_here = |place: &str| {
                with_folded(parent, |parent| without_backup(parent) == place.as_bytes())
            };
            places.iter().find(|(place, _)| is_here(place)).map(|(_, line)| line)
        };
        by_name.or_else(by_ending).or_else(by_family).or_else(by_place).map(|line| line.why)
    }
}

/// Takes the marks off a name that editors, people, desktops and log rotation put on for a backup or a copy.
fn without_backup(mut name: &[u8]) -> &[u8] {
    if let Some(saved) = name.strip_prefix(b"#").and_then(|name| name.strip_suffix(b"#")) {
        name = saved;
    }
    // A backup of a backup is one too.
    while let Some(shorter) = without_mark(name).filter(|shorter| !shorter.is_empty()) {
        name = shorter;
    }
    name
}

/// Takes one mark off. `.txt` is what mail and browsers put on a name whose ending they do not know.
fn without_mark(name: &[u8]) -> Option<&[u8]> {
    const MARKS: [&[u8]; 10] = [
        b"~", b".bak", b".backup", b".old", b".orig", b".save", b".copy", b".txt", b" - copy",
        b" copy",
    ];
    // `.1`, `.~1~` with its last sign off, ` (1)`.
    let numbered = || {
        let is_copy = name.ends_with(b")");
        let name = name.strip_suffix(b")").unwrap_or(name);
        let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (stem, number) = name.split_at_checked(name.len() - digits)?;
        let stem = if is_copy {
            stem.strip_suffix(b" (")
        } else {
            stem.strip_suffix(b".~").or_else(|| stem.strip_suffix(b"."))
        };
        stem.filter(|_| !number.is_empty())
    };
    let marked = MARKS.iter().find_map(|mark| name.strip_suffix(*mark));
    marked.or_else(numbered).or_else(|| name.strip_prefix(b"copy of "))
}

/// Returns what an editor's swap file belongs to.
fn swapped(name: &[u8]) -> Option<&[u8]> {
    let name = name.strip_prefix(b".")?;
    name.strip_suffix(b".swp").or_else(|| name.strip_suffix(b".swo"))
}

/// Hands over a name with case folded, and without what some file systems leave out when they compare names.
fn with_folded<T>(name: &[u8], then: impl FnOnce(&[u8]) -> T) -> T {
    let mut room = [0_u8; 256];
    if name.is_ascii()
        && let Some(room) = room.get_mut(..name.len())
    {
        room.copy_from_slice(name);
        room.make_ascii_lowercase();
        return then(room);
    }
    let text = String::from_utf8_lossy(name);
    let folded: String = text
        .nfkc()
        .filter(|char| !matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
        .flat_map(char::to_lowercase)
        // The one letter that lower case leaves apart from the ASCII letter it is compared as.
        .map(|char| if char == 'ſ' { 's' } else { char })
        .collect();
    then(folded.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protects(path: &str) -> bool {
        Protection::standard().of_path(Path::new(path)).is_some()
    }

    #[test]
    fn names_of_secrets_are_protected_wherever_they_stand() {
        for path in [
            ".env",
            ".ENV",
            "a/.env",
            ".env/x",
            ".env.local",
            ".envrc",
            ".env-prod",
            ".env_prod",
            ".env.example.local",
            ".env~",
            ".env.bak",
            ".env.swp",
            "#.env#",
            "id_rsa",
            "ID_RSA",
            "id_ed25519",
            "id_ecdsa_sk",
            "id_ed25519_sk",
            "id_rsa.old",
            ".id_rsa.swp",
            "id_rsa.~1~",
            "id_rsa2",
            "id_rsa_work",
            "id_ed25519-github",
            "id_rsa (1)",
            "server.key.1",
            "server.key.1.bak",
            "key.pem.txt",
            "Copy of .env",
            "credentials.json copy",
            ".haft-0123456789abcdef0123456789abcdef.part",
            "id_rsa - Copy",
            ".docker.bak/config.json",
            ".config.old/gcloud/x",
            "tls/server.key",
            "server.PEM",
            ".pem",
            "a.p12",
            "a.pfx",
            "a.jks",
            "a.keystore",
            "a.kdbx",
            "a.ppk",
            ".ssh/config",
            "home/.ssh/known_hosts",
            ".aws/credentials",
            ".gnupg/x",
            ".azure/x",
            ".kube/config",
            ".docker/config.json",
            "x/.DOCKER/config.json",
            ".config/gcloud/x",
            ".netrc",
            "_netrc",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".htpasswd",
            ".pgpass",
            ".my.cnf",
            "credentials.json",
            "service-account.json",
            "service-account-prod.json",
            "service_account.json",
            ".cargo/credentials.toml",
            ".vault-token",
            ".\u{17f}sh/config",
            ".e\u{200c}nv",
        ] {
            assert!(protects(path), "{path} should be protected");
        }
    }

    #[test]
    fn ordinary_names_are_not() {
        for path in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.dist",
            ".env.local.example",
            ".ENV.Example",
            ".env.example.bak",
            ".environment",
            ".haft-notes.part",
            ".haft-0123abc.part",
            ".haft-a-name-of-two-and-thirty-letters.part",
            ".envoy.yaml",
            "env",
            "env.rs",
            "id_rsa.pub",
            "id_ed25519_sk.pub",
            "id_rsa.rs",
            "id_rsa_work.pub",
            "id_rsa_parser.rs",
            "id_rsatz",
            "id_ed25519-cert.pub",
            "notes.txt",
            "chapter.1",
            "copy of notes",
            ".1",
            " (1)",
            "env.bak",
            ".env.example.1",
            "id_generator_sk.py",
            "keys.rs",
            "key",
            "pem",
            "docker/config.json",
            "config.json",
            ".config/nvim/init.lua",
            ".git/config",
            ".github/workflows/ci.yml",
            "service-account.md",
            "credentials.rs",
            "ssh/config",
            ".gitignore",
            ".haft/config.toml",
            "~",
            ".bak",
            "",
        ] {
            assert!(!protects(path), "{path} should not be protected");
        }
    }

    #[test]
    fn the_operator_adds_names_and_lifts_single_ones() {
        let protection =
            Protection::extended(&["*.secret", "private/**"], &["certs/ca.pem", ".npmrc"]).unwrap();
        let protects = |path: &str| protection.of_path(Path::new(path)).is_some();
        assert!(protects("a/B.SECRET"));
        assert!(protects("private/x"));
        assert!(!protects("a/private/x"));
        assert!(!protects("certs/ca.pem"));
        assert!(protects("certs/key.pem"));
        assert!(!protects("sub/.npmrc"));
        assert!(protects(".NPMRC"));
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = Protection::extended(&["a{b"], &[]).unwrap_err();
        insta::assert_snapshot!(error, @"`a{b` is not a pattern for paths: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)");
    }

    #[test]
    fn rules_and_history_are_readable_and_not_writable() {
        let protection = Protection::standard();
        for path in [".git/hooks/pre-commit", "sub/.GIT/config", ".haft/config.toml", ".git"] {
            assert!(protection.of_path(Path::new(path)).is_none(), "{path}");
            assert!(protection.of_write(Path::new(path)).is_some(), "{path}");
        }
        for path in [".github/x", ".gitignore", "git/x"] {
            assert!(protection.of_write(Path::new(path)).is_none(), "{path}");
        }
    }
}
