# Recipes are the commands of CONTRIBUTING.md under short names.

# List the recipes
default:
    @just --list

# Check that everything compiles
check:
    cargo check --workspace --all-targets

# Install the real parts that tests need, then run every test
test *arguments:
    cargo xtask test {{ if arguments == "" { "" } else { "-- " + arguments } }}

# Write the formatting
fmt:
    cargo fmt --all

# Everything a linter sees
lint:
    cargo clippy --workspace --all-targets --all-features -- -D warnings

# The rules that no linter sees
tidy:
    cargo xtask tidy

# Licences, sources, known weaknesses and duplicates of dependencies
deny:
    cargo deny check

# Read the documentation
doc:
    cargo doc --workspace --no-deps --open

# Compare haft with the programs people would use instead
bench *names:
    cargo build --release --package haft-cli && cargo xtask bench {{ names }}

# Search for inputs that break a target
fuzz target seconds="60":
    mkdir -p fuzz/found/{{ target }}
    RUSTC_BOOTSTRAP=1 cargo fuzz run {{ target }} fuzz/found/{{ target }} fuzz/corpus/{{ target }} -- -max_total_time={{ seconds }}

# Break what decides over calls and files, and look whether a test notices
mutants package *arguments:
    cargo mutants --package {{ package }} {{ arguments }}

# Everything that has to pass
ci:
    bash .ci/run
