//! What passes between a launcher and its helper.
//!
//! Both ends are the same version of this crate, so the form may change freely; [`VERSION`] guards against a program
//! that was replaced while it ran. A frame is its length and its content; numbers are little-endian.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use crate::{Allowance, LeftBehind, Process, SandboxLevel};

/// Changes with every change of form.
pub(crate) const VERSION: u32 = 2;

/// Bytes of a frame at most: more than the system takes as arguments and environment.
pub(crate) const FRAME_BYTES: usize = 8 * 1024 * 1024;

/// Handles that go with an order at most.
pub(crate) const HANDLES: usize = 64;

/// What the launcher says after its order to have the command stopped.
pub(crate) const STOP: u8 = b'S';

/// What the helper is to run. The handles that go with it are the working directory, then those of `write`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) level: SandboxLevel,
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) read: Vec<PathBuf>,
    /// A directory that may be written and goes if the launcher does.
    pub(crate) private: Option<PathBuf>,
    pub(crate) grace: Duration,
    pub(crate) allowance: Allowance,
}

/// What the helper says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// It is a helper.
    Ready { version: u32 },
    /// The command is what comes next, unless `Failed` does.
    Started,
    /// The command was not started.
    Failed { step: Step, errno: i32, text: String },
    /// Nothing of the command runs any more, except `survivors`.
    Ended { status: Option<Status>, left_behind: LeftBehind, survivors: u32 },
}

/// Where starting a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Order,
    DirectoryGone,
    Directory,
    Confine,
    ProgramMissing,
    Interpreter,
    Program,
}

/// How the command itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Exited(i32),
    Signalled(i32),
}

const STEPS: [Step; 7] = [
    Step::Order,
    Step::DirectoryGone,
    Step::Directory,
    Step::Confine,
    Step::ProgramMissing,
    Step::Interpreter,
    Step::Program,
];

impl Order {
    /// Returns how many bytes the command is given as arguments and environment.
    pub(crate) fn bytes(&self) -> usize {
        let arguments = self.argv.iter().map(|it| it.len() + 1);
        let env = self.env.iter().map(|(name, value)| name.len() + value.len() + 2);
        arguments.chain(env).sum()
    }

    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.byte(self.level as u8);
        out.number(self.argv.len());
        for argument in &self.argv {
            out.text(argument);
        }
        out.number(self.env.len());
        for (name, value) in &self.env {
            out.text(name);
            out.text(value);
        }
        out.number(self.read.len());
        for path in &self.read {
            out.text(path.as_os_str());
        }
        out.text(self.private.as_deref().unwrap_or("".as_ref()).as_os_str());
        out.number(usize::try_from(self.grace.as_millis()).unwrap_or(usize::MAX));
        let Allowance { memory_bytes, processes, file_bytes } = self.allowance;
        for number in [memory_bytes, processes, file_bytes] {
            out.long(number);
        }
        out.finish()
    }

    pub(crate) fn read(content: &[u8]) -> io::Result<Self> {
        let mut input = Reader(content);
        let level = usize::from(input.byte()?);
        let level = *SandboxLevel::ALL.get(level).ok_or_else(malformed)?;
        let argv = input.list(Reader::text)?;
        let env = input.list(|input| Ok((input.text()?, input.text()?)))?;
        let read = input.list(|input| Ok(PathBuf::from(input.text()?)))?;
        let private = input.text()?;
        let private = (!private.is_empty()).then(|| PathBuf::from(private));
        let grace = Duration::from_millis(u64::from(input.number()?));
        let allowance = Allowance {
            memory_bytes: input.long()?,
            processes: input.long()?,
            file_bytes: input.long()?,
        };
        input.end()?;
        Ok(Self { level, argv, env, read, private, grace, allowance })
    }
}

impl Report {
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match self {
            Self::Ready { version } => {
                out.byte(0);
                out.word(*version);
            }
            Self::Started => out.byte(1),
            Self::Failed { step, errno, text } => {
                out.byte(2);
                out.byte(*step as u8);
                out.word(errno.cast_unsigned());
                out.text(OsStr::new(text));
            }
            Self::Ended { status, left_behind, survivors } => {
                out.byte(3);
                let (how, code) = match status {
                    None => (0, 0),
                    Some(Status::Exited(code)) => (1, *code),
                    Some(Status::Signalled(signal)) => (2, *signal),
                };
                out.byte(how);
                out.word(code.cast_unsigned());
                out.number(left_behind.processes.len());
                for process in &left_behind.processes {
                    out.word(process.pid);
                    out.text(OsStr::new(&process.command));
                }
                out.word(left_behind.more);
                out.word(*survivors);
            }
        }
        out.finish()
    }

    pub(crate) fn read(content: &[u8]) -> io::Result<Self> {
        let mut input = Reader(content);
        let report = match input.byte()? {
            0 => Self::Ready { version: input.number()? },
            1 => Self::Started,
            2 => Self::Failed {
                step: *STEPS.get(usize::from(input.byte()?)).ok_or_else(malformed)?,
                errno: input.number()?.cast_signed(),
                text: input.text()?.to_string_lossy().into_owned(),
            },
            3 => {
                let (how, code) = (input.byte()?, input.number()?.cast_signed());
                let status = match how {
                    0 => None,
                    1 => Some(Status::Exited(code)),
                    2 => Some(Status::Signalled(code)),
                    _ => return Err(malformed()),
                };
                let processes = input.list(|input| {
                    let pid = input.number()?;
                    Ok(Process { pid, command: input.text()?.to_string_lossy().into_owned() })
                })?;
                let left_behind = LeftBehind { processes, more: input.number()? };
                Self::Ended { status, left_behind, survivors: input.number()? }
            }
            _ => return Err(malformed()),
        };
        input.end()?;
        Ok(report)
    }
}

/// Takes the first frame out of what was received, if all of it has arrived.
pub(crate) fn take_frame(inbox: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let Some((length, rest)) = inbox.split_first_chunk::<4>() else { return Ok(None) };
    let length = frame_length(*length)?;
    let Some(content) = rest.get(..length) else { return Ok(None) };
    let content = content.to_vec();
    inbox.drain(..4 + length);
    Ok(Some(content))
}

/// Reads the length that a frame begins with.
pub(crate) fn frame_length(bytes: [u8; 4]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX);
    if length > FRAME_BYTES { Err(malformed()) } else { Ok(length) }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed frame")
}

struct Writer(Vec<u8>);

impl Writer {
    fn new() -> Self {
        Self(vec![0; 4])
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn word(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn long(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// A number that is bounded by what a frame can hold, or may be cut to what fits.
    fn number(&mut self, number: usize) {
        self.word(u32::try_from(number).unwrap_or(u32::MAX));
    }

    fn text(&mut self, text: &OsStr) {
        self.number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        for (place, byte) in self.0.iter_mut().zip(length.to_le_bytes()) {
            *place = byte;
        }
        self.0
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.take(1)?.first().copied().ok_or_else(malformed)
    }

    fn number(&mut self) -> io::Result<u32> {
        let bytes = self.take(4)?.try_into().map_err(|_| malformed())?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn long(&mut self) -> io::Result<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| malformed())?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn text(&mut self) -> io::Result<OsString> {
        let length = self.number()?;
        let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(OsString::from_vec(bytes.to_vec()))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        let count = self.number()?;
        // Not reserved in advance: a false count ends with the bytes.
        (0..count).map(|_| item(self)).collect()
    }

    fn end(&self) -> io::Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(malformed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        Order {
            level: SandboxLevel::Files,
            argv: vec!["sh".into(), OsString::from_vec(vec![0xff, b'\n'])],
            env: vec![("A".into(), "".into())],
            read: vec!["/opt".into()],
            private: Some("/tmp/x".into()),
            grace: Duration::from_millis(1500),
            allowance: Allowance { memory_bytes: u64::MAX, ..Allowance::default() },
        }
    }

    fn reports() -> Vec<Report> {
        let left_behind = LeftBehind {
            processes: vec![Process { pid: 7, command: "sleep 60".to_owned() }],
            more: 2,
        };
        vec![
            Report::Ready { version: VERSION },
            Report::Started,
            Report::Failed { step: Step::Program, errno: 13, text: "no".to_owned() },
            Report::Ended { status: None, left_behind: LeftBehind::default(), survivors: 0 },
            Report::Ended { status: Some(Status::Signalled(9)), left_behind, survivors: 1 },
        ]
    }

    #[test]
    fn an_order_arrives_as_it_was_sent() {
        let mut inbox = order().frame();
        let content = take_frame(&mut inbox).unwrap().unwrap();
        assert_eq!(Order::read(&content).unwrap(), order());
        assert!(inbox.is_empty());
    }

    #[test]
    fn reports_arrive_one_after_the_other() {
        let mut inbox: Vec<u8> = reports().iter().flat_map(Report::frame).collect();
        for report in reports() {
            let content = take_frame(&mut inbox).unwrap().unwrap();
            assert_eq!(Report::read(&content).unwrap(), report);
        }
        assert_eq!(take_frame(&mut inbox).unwrap(), None);
    }

    #[test]
    fn every_beginning_and_every_flipped_byte_is_an_answer_not_a_panic() {
        let mut frames: Vec<_> = reports().iter().map(Report::frame).collect();
        frames.push(order().frame());
        for frame in frames {
            let content = &frame[4..];
            for end in 0..content.len() {
                assert!(Order::read(&content[..end]).is_err());
                let _ = Report::read(&content[..end]);
                let mut flipped = content.to_vec();
                flipped[end] ^= 0xff;
                let _ = (Order::read(&flipped), Report::read(&flipped));
            }
        }
    }

    #[test]
    fn a_frame_without_end_is_refused() {
        assert!(take_frame(&mut vec![0xff; 5]).is_err());
    }

    #[test]
    fn every_step_has_its_number() {
        for (number, step) in STEPS.into_iter().enumerate() {
            assert_eq!(step as usize, number);
        }
        for (number, level) in SandboxLevel::ALL.into_iter().enumerate() {
            assert_eq!(level as usize, number);
        }
    }
}
