//! Programs that run others, and how their arguments are read.

/// A program that runs the command behind its options.
pub(super) struct Runner {
    pub(super) name: &'static str,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with one.
    values: &'static str,
    /// Names of options without a value. One that is among the others as well has its value behind `=` alone.
    long_flags: &'static [&'static str],
    long_values: &'static [&'static str],
    /// Words before the command.
    pub(super) operands: usize,
    /// Whether variables may be set before the command.
    pub(super) assigns: bool,
    pub(super) frame: Frame,
}

/// When a runner does nothing of its own that a rule should have a say about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    Never,
    WithoutOptions,
    Always,
}

const fn runner(
    name: &'static str,
    flags: &'static str,
    values: &'static str,
    frame: Frame,
) -> Runner {
    Runner {
        name,
        flags,
        values,
        long_flags: &[],
        long_values: &[],
        operands: 0,
        assigns: false,
        frame,
    }
}

const RUNNERS: &[Runner] = &[
    Runner {
        long_flags: &["ignore-environment", "null", "debug"],
        long_values: &["unset", "chdir"],
        assigns: true,
        ..runner("env", "i0v", "uC", Frame::WithoutOptions)
    },
    runner("command", "p", "", Frame::Always),
    runner("builtin", "", "", Frame::Always),
    runner("exec", "cl", "a", Frame::WithoutOptions),
    runner("nohup", "", "", Frame::Always),
    Runner { long_values: &["adjustment"], ..runner("nice", "0123456789", "n", Frame::Always) },
    Runner {
        long_flags: &["ignore"],
        long_values: &["class", "classdata"],
        ..runner("ionice", "t", "cn", Frame::Always)
    },
    Runner {
        long_flags: &["preserve-status", "foreground", "verbose"],
        long_values: &["signal", "kill-after"],
        operands: 1,
        ..runner("timeout", "fpv", "sk", Frame::Always)
    },
    runner("time", "p", "", Frame::Always),
    Runner {
        long_values: &["input", "output", "error"],
        ..runner("stdbuf", "", "ioe", Frame::Always)
    },
    Runner { long_flags: &["ctty", "fork", "wait"], ..runner("setsid", "cfw", "", Frame::Always) },
    Runner {
        long_flags: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "interactive",
            "exit",
            "open-tty",
            "max-lines",
            "replace",
        ],
        long_values: &[
            "arg-file",
            "delimiter",
            "max-lines",
            "max-args",
            "max-procs",
            "max-chars",
            "replace",
            "process-slot-var",
        ],
        ..runner("xargs", "0rtpxo", "InPLsdaE", Frame::Never)
    },
    Runner {
        long_flags: &[
            "non-interactive",
            "stdin",
            "set-home",
            "background",
            "preserve-env",
            "askpass",
            "bell",
        ],
        long_values: &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "chdir",
            "role",
            "type",
            "command-timeout",
        ],
        assigns: true,
        ..runner("sudo", "nSEHbAB", "ughpCDrtT", Frame::Never)
    },
    runner("doas", "n", "u", Frame::Never),
    runner("busybox", "", "", Frame::Never),
    runner("toybox", "", "", Frame::Never),
];

/// `watch`, which gives its words to a shell.
pub(super) const WATCH: Runner = Runner {
    long_flags: &[
        "beep",
        "color",
        "no-color",
        "differences",
        "errexit",
        "chgexit",
        "precise",
        "no-title",
        "no-wrap",
    ],
    long_values: &["interval", "equexit"],
    ..runner("watch", "bcCdegptw", "nq", Frame::Never)
};

/// `ssh`, which gives the words behind its host to a shell there.
pub(super) const SSH: Runner = Runner {
    operands: 1,
    ..runner("ssh", "46AaCfGgKkMNnqsTtVvXxYy", "BbcDeEIiLlmOpQRWw", Frame::Never)
};

/// Programs and builtins that run others in ways that are not read, or change what later names mean.
const OPAQUE: &[(&str, &str)] = &[
    (".", "it runs commands out of a file"),
    ("source", "it runs commands out of a file"),
    ("alias", CHANGES),
    ("unalias", CHANGES),
    ("bind", CHANGES),
    ("complete", CHANGES),
    ("compgen", CHANGES),
    ("compopt", CHANGES),
    ("enable", CHANGES),
    ("hash", CHANGES),
    ("shopt", CHANGES),
    ("fc", RUNS),
    ("at", RUNS),
    ("batch", RUNS),
    ("catatonit", RUNS),
    ("catchsegv", RUNS),
    ("choom", RUNS),
    ("chpst", RUNS),
    ("chroot", RUNS),
    ("chrt", RUNS),
    ("coresched", RUNS),
    ("crontab", RUNS),
    ("csh", RUNS),
    ("dbus-run-session", RUNS),
    ("dumb-init", RUNS),
    ("eatmydata", RUNS),
    ("elvish", RUNS),
    ("entr", RUNS),
    ("expect", RUNS),
    ("fakeroot", RUNS),
    ("faketime", RUNS),
    ("firejail", RUNS),
    ("fish", RUNS),
    ("flock", RUNS),
    ("gdb", RUNS),
    ("gosu", RUNS),
    ("ld.so", RUNS),
    ("linux32", RUNS),
    ("linux64", RUNS),
    ("ltrace", RUNS),
    ("nsenter", RUNS),
    ("nu", RUNS),
    ("numactl", RUNS),
    ("pkexec", RUNS),
    ("prlimit", RUNS),
    ("proot", RUNS),
    ("pwsh", RUNS),
    ("run0", RUNS),
    ("runuser", RUNS),
    ("s6-setuidgid", RUNS),
    ("screen", RUNS),
    ("script", RUNS),
    ("setarch", RUNS),
    ("setpriv", RUNS),
    ("softlimit", RUNS),
    ("strace", RUNS),
    ("su", RUNS),
    ("su-exec", RUNS),
    ("systemd-run", RUNS),
    ("taskset", RUNS),
    ("tcsh", RUNS),
    ("tini", RUNS),
    ("tmux", RUNS),
    ("torify", RUNS),
    ("torsocks", RUNS),
    ("uname26", RUNS),
    ("unbuffer", RUNS),
    ("unshare", RUNS),
    ("xonsh", RUNS),
    ("xvfb-run", RUNS),
];

const CHANGES: &str = "it changes what later commands mean";
const RUNS: &str = "it runs other programs in ways that are not read";

/// Builtins that set variables by their arguments.
pub(super) const ASSIGNING: &[&str] = &[
    "declare",
    "typeset",
    "export",
    "readonly",
    "local",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "unset",
];

/// Builtins that calculate with their arguments, and run what an index of an array says.
pub(super) const EVALUATING: &[&str] = &["test", "[", "printf", "wait"];

/// Shells whose option `-c` takes a text.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"];

/// Options of git that name a program, or that have it run one.
pub(super) const GIT_RUNS: &[&str] = &[
    "config-env",
    "exec-path",
    "exec",
    "ext-diff",
    "extcmd",
    "open-files-in-pager",
    "receive-pack",
    "textconv",
    "upload-pack",
    "config",
    "tool",
    "template",
    "strategy",
];

/// Subcommands of git that run what they are told to.
pub(super) const GIT_COMMANDS: &[&str] =
    &["bisect", "difftool", "filter-branch", "for-each-repo", "hook", "mergetool", "submodule"];

/// Actions of `find` that run a command.
pub(super) const FIND_RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Actions of `find` that write a file.
pub(super) const FIND_WRITES: &[&str] = &["-fprint", "-fprint0", "-fprintf", "-fls"];

pub(super) fn runner_of(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|it| it.name == name)
}

pub(super) fn opaque(name: &str) -> Option<&'static str> {
    OPAQUE.iter().find(|(it, _)| *it == name).map(|(_, why)| *why)
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing more.
    Nothing,
    /// The next word.
    Next,
}

impl Runner {
    /// Reads an option; `None` for one that is not known.
    pub(super) fn option(&self, word: &str) -> Option<Takes> {
        if let Some(long) = word.strip_prefix("--") {
            return match long.split_once('=') {
                Some((name, _)) => self.long_values.contains(&name).then_some(Takes::Nothing),
                None if self.long_flags.contains(&long) => Some(Takes::Nothing),
                None => self.long_values.contains(&long).then_some(Takes::Next),
            };
        }
        let letters = word.strip_prefix('-')?;
        for (at, letter) in letters.char_indices() {
            if self.values.contains(letter) {
                let is_last = at + letter.len_utf8() == letters.len();
                return Some(if is_last { Takes::Next } else { Takes::Nothing });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        (!letters.is_empty()).then_some(Takes::Nothing)
    }
}
