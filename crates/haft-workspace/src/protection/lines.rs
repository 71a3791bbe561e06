//! The protection list itself: one line for each form of name, and why.
//!
//! Forms are in lower case. A line belongs here when a file of that name holds a secret far more often than not, so that
//! work on ordinary projects does not meet it.

/// One line of the list.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) form: Form,
    /// What such a file holds, in words that follow "is protected:".
    pub(super) why: &'static str,
}

/// Tells whether a name belongs to a family.
pub(super) type IsMember = fn(&[u8]) -> bool;

/// The form of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// The whole name.
    Name(&'static str),
    /// The last dot and what follows.
    Ending(&'static str),
    /// A name in a directory of a name.
    Within(&'static str, &'static str),
    /// Names that vary.
    Family(IsMember),
}

const ENVIRONMENT: &str = "environment files hold credentials";
const PRIVATE_KEY: &str = "it is a private key or a store of them";
const LOGINS: &str = "it holds logins to other services";
const CLOUD: &str = "it holds credentials of a cloud account";
const REGISTRY: &str = "it may hold tokens of a package registry";

const fn name(name: &'static str, why: &'static str) -> Line {
    Line { form: Form::Name(name), why }
}

const fn ending(ending: &'static str, why: &'static str) -> Line {
    Line { form: Form::Ending(ending), why }
}

const fn within(parent: &'static str, name: &'static str, why: &'static str) -> Line {
    Line { form: Form::Within(parent, name), why }
}

const fn family_of(is_member: IsMember, why: &'static str) -> Line {
    Line { form: Form::Family(is_member), why }
}

pub(super) static LINES: &[Line] = &[
    // `.env`, `.envrc`, `.env.local`, `.env-prod`; templates (`.env.example`) are for sharing.
    family_of(is_environment, ENVIRONMENT),
    // What ssh-keygen writes, and what certificates' private halves are kept in. A `.pem` may be a public
    // certificate; nothing but its content tells, and an exception can lift it.
    family_of(is_key_of_ssh, PRIVATE_KEY),
    name("ssh_host_rsa_key", PRIVATE_KEY),
    name("ssh_host_dsa_key", PRIVATE_KEY),
    name("ssh_host_ecdsa_key", PRIVATE_KEY),
    name("ssh_host_ed25519_key", PRIVATE_KEY),
    ending(".pem", PRIVATE_KEY),
    ending(".key", PRIVATE_KEY),
    ending(".p8", PRIVATE_KEY),
    ending(".p12", PRIVATE_KEY),
    ending(".pfx", PRIVATE_KEY),
    ending(".jks", PRIVATE_KEY),
    ending(".keystore", PRIVATE_KEY),
    ending(".keytab", PRIVATE_KEY),
    ending(".ppk", PRIVATE_KEY),
    // Password databases.
    ending(".kdbx", LOGINS),
    // Directories that exist to hold keys and tokens.
    name(".ssh", PRIVATE_KEY),
    name(".gnupg", PRIVATE_KEY),
    name(".password-store", LOGINS),
    name(".aws", CLOUD),
    name(".azure", CLOUD),
    name(".kube", CLOUD),
    within(".config", "gcloud", CLOUD),
    // `gh` and `hub` keep GitHub tokens there.
    within(".config", "gh", LOGINS),
    within(".config", "hub", LOGINS),
    within(".docker", "config.json", REGISTRY),
    within(".cargo", "credentials", REGISTRY),
    within(".cargo", "credentials.toml", REGISTRY),
    within(".gem", "credentials", REGISTRY),
    within(".m2", "settings.xml", REGISTRY),
    within(".m2", "settings-security.xml", REGISTRY),
    within(".terraform.d", "credentials.tfrc.json", CLOUD),
    // Files that programs read logins from.
    name(".netrc", LOGINS),
    name("_netrc", LOGINS),
    name(".git-credentials", LOGINS),
    name(".htpasswd", LOGINS),
    name(".pgpass", LOGINS),
    name(".my.cnf", LOGINS),
    name(".mylogin.cnf", LOGINS),
    name(".vault-token", LOGINS),
    name(".vault_pass", LOGINS),
    name(".s3cfg", CLOUD),
    name(".boto", CLOUD),
    name(".terraformrc", CLOUD),
    // A project's own `.npmrc` is often harmless, and nothing but its content tells.
    name(".npmrc", REGISTRY),
    name(".pypirc", REGISTRY),
    name(".dockercfg", REGISTRY),
    // What cloud consoles hand out for download.
    name("credentials.json", CLOUD),
    name("application_default_credentials.json", CLOUD),
    family_of(is_service_account, CLOUD),
    family_of(is_unfinished, "haft is about to put it in a file's place"),
];

/// What the names of files begin and end with that are written beside the one they are to replace.
pub(crate) const UNFINISHED: (&str, &str) = (".haft-", ".part");

/// Names that tools may read and must not write, and why: what stands there decides what haft, or the version control
/// system, does next.
pub(super) static WRITE_LINES: &[(&str, &str)] = &[
    (".haft", "haft's own rules stand there, and only a person changes them"),
    (".git", "hooks and configuration there start programs; use the tools for version control"),
    (".hg", "hooks and configuration there start programs; use the tools for version control"),
    (".jj", "configuration there starts programs; use the tools for version control"),
    (".svn", "hooks and configuration there start programs; use the tools for version control"),
];

fn is_environment(name: &[u8]) -> bool {
    const TEMPLATES: [&[u8]; 4] = [b".example", b".sample", b".template", b".dist"];
    let Some(rest) = name.strip_prefix(b".env") else { return false };
    let rest = rest.strip_prefix(b"rc").unwrap_or(rest);
    let is_of_the_family = rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric());
    is_of_the_family && !TEMPLATES.iter().any(|template| rest.ends_with(template))
}

/// `id_rsa`, `id_ed25519_sk`, and what people call a second one: `id_rsa2`, `id_rsa_work`. What has an ending is no key:
/// `.pub` is the public half, and source files about keys have names like these.
fn is_key_of_ssh(name: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"id_rsa", b"id_dsa", b"id_ecdsa", b"id_ed25519"];
    let rest = BEGINNINGS.iter().find_map(|beginning| name.strip_prefix(*beginning));
    rest.is_some_and(|rest| {
        let is_another =
            rest.first().is_none_or(|byte| matches!(byte, b'_' | b'-') || byte.is_ascii_digit());
        is_another && !rest.contains(&b'.')
    })
}

fn is_service_account(name: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 4] =
        [b"service-account", b"service_account", b"serviceaccount", b"client_secret"];
    name.ends_with(b".json") && BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Tells whether a file of this name is written beside the one that it is to replace.
pub(crate) fn is_unfinished(name: &[u8]) -> bool {
    let (begin, end) = UNFINISHED;
    let middle =
        name.strip_prefix(begin.as_bytes()).and_then(|name| name.strip_suffix(end.as_bytes()));
    middle.is_some_and(|middle| middle.len() == 32 && middle.iter().all(u8::is_ascii_hexdigit))
}
