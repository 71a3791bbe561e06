//! Where lines end.

use memchr::{memchr, memchr_iter, memchr2, memrchr, memrchr2};

use crate::encoding::Charset;
use crate::window::LineEnding;

/// Which bytes end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// `\n` and `\r\n`.
    Newlines,
    /// `\r` as well, for files of the classic Mac.
    CarriageReturns,
}

/// One line end in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Break {
    /// The length of the content before it.
    pub(crate) content: usize,
    /// Where the next line starts.
    pub(crate) next: usize,
    /// What it consists of.
    pub(crate) ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    Crlf,
    Cr,
}

/// How often each line end was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    lf: u64,
    crlf: u64,
    cr: u64,
}

impl Breaks {
    /// Decides from the first bytes of a stream.
    pub(crate) fn sniff(prefix: &[u8], charset: Charset, whole_input: bool) -> Self {
        // A `\r` that ends the prefix may be half of a `\r\n`.
        let lone = |at: usize, last: usize| whole_input || at < last;
        let classic_mac = match charset {
            Charset::Utf8 | Charset::Legacy(_) => {
                let last = prefix.len().saturating_sub(1);
                memchr(b'\n', prefix).is_none()
                    && memchr(b'\r', prefix).is_some_and(|at| lone(at, last))
            }
            Charset::Utf16Le | Charset::Utf16Be => {
                let units = prefix.as_chunks::<2>().0;
                let last = units.len().saturating_sub(1);
                let find = |wanted: u16| {
                    let wanted = match charset {
                        Charset::Utf16Be => wanted.to_be_bytes(),
                        _ => wanted.to_le_bytes(),
                    };
                    units.iter().position(|unit| *unit == wanted)
                };
                find(0x0a).is_none() && find(0x0d).is_some_and(|at| lone(at, last))
            }
        };
        if classic_mac { Self::CarriageReturns } else { Self::Newlines }
    }

    /// Finds the first line end. A `\r\n` must not be cut by the end of `bytes`.
    pub(crate) fn find(self, bytes: &[u8]) -> Option<Break> {
        let at = match self {
            Self::Newlines => memchr(b'\n', bytes)?,
            Self::CarriageReturns => memchr2(b'\r', b'\n', bytes)?,
        };
        let (content, end) = bytes.split_at_checked(at)?;
        Some(match (content, end) {
            ([.., b'\r'], _) => Break { content: at - 1, next: at + 1, ending: Ending::Crlf },
            (_, [b'\r', b'\n', ..]) => Break { content: at, next: at + 2, ending: Ending::Crlf },
            (_, [b'\r', ..]) => Break { content: at, next: at + 1, ending: Ending::Cr },
            _ => Break { content: at, next: at + 1, ending: Ending::Lf },
        })
    }

    /// Finds the last byte that may end a line.
    pub(crate) fn rfind(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Newlines => memrchr(b'\n', bytes),
            Self::CarriageReturns => memrchr2(b'\r', b'\n', bytes),
        }
    }

    /// Counts the line ends in a slice that cuts no `\r\n`.
    pub(crate) fn count(self, bytes: &[u8]) -> Tally {
        let followed = |at: &usize| bytes.get(at + 1) == Some(&b'\n');
        match self {
            Self::Newlines => {
                let newlines = memchr_iter(b'\n', bytes).count();
                let crlf = memchr_iter(b'\r', bytes).filter(followed).count();
                Tally { lf: (newlines - crlf) as u64, crlf: crlf as u64, cr: 0 }
            }
            Self::CarriageReturns => {
                let mut tally = Tally::default();
                let mut rest = bytes;
                while let Some(found) = self.find(rest) {
                    tally.add(found.ending);
                    rest = rest.get(found.next..).unwrap_or_default();
                }
                tally
            }
        }
    }

    /// Where the line after `ends` line ends starts, when the slice holds that many. `ends` is at
    /// least 1.
    pub(crate) fn position_after(self, bytes: &[u8], ends: u64) -> Option<usize> {
        match self {
            Self::Newlines => {
                let nth = usize::try_from(ends - 1).ok()?;
                memchr_iter(b'\n', bytes).nth(nth).map(|at| at + 1)
            }
            Self::CarriageReturns => {
                let mut position = 0;
                for _ in 0..ends {
                    position += self.find(bytes.get(position..)?)?.next;
                }
                Some(position)
            }
        }
    }

    /// Whether a slice stops right behind a line end.
    pub(crate) fn ends_line(self, bytes: &[u8]) -> bool {
        match bytes.last() {
            Some(b'\n') => true,
            Some(b'\r') => self == Self::CarriageReturns,
            _ => false,
        }
    }
}

impl Ending {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

impl Tally {
    pub(crate) fn total(self) -> u64 {
        self.lf + self.crlf + self.cr
    }

    pub(crate) fn add(&mut self, ending: Ending) {
        match ending {
            Ending::Lf => self.lf += 1,
            Ending::Crlf => self.crlf += 1,
            Ending::Cr => self.cr += 1,
        }
    }

    pub(crate) fn add_all(&mut self, other: Self) {
        self.lf += other.lf;
        self.crlf += other.crlf;
        self.cr += other.cr;
    }

    pub(crate) fn line_ending(self) -> LineEnding {
        match (self.lf, self.crlf, self.cr) {
            (0, 0, 0) => LineEnding::None,
            (_, 0, 0) => LineEnding::Lf,
            (0, _, 0) => LineEnding::Crlf,
            (0, 0, _) => LineEnding::Cr,
            _ => LineEnding::Mixed,
        }
    }
}
