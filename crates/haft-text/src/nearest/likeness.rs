//! How alike lines are, told by the runs of three bytes they share.

use std::collections::HashMap;

use crate::document::Document;
use crate::grade::MatchGrade;
use crate::stop::{CalledOff, Patience, Stop};

/// A likeness in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Likeness(u32);

impl Likeness {
    pub(super) const SAME: Self = Self(100);

    pub(super) fn of(hundredths: u32) -> Self {
        Self(hundredths)
    }
}

/// The least likeness that is worth a word.
const LEAST: Likeness = Likeness(35);

/// The most bytes of a line that are compared.
const LINE_BYTES: usize = 1024;

/// The most lines of a text that are compared.
const LINES: usize = 200;

/// The most places that are looked at closely.
const PLACES: usize = 16;

/// The most lines of the document that may vote for a place.
const VOTES: usize = 1_000_000;

/// How much of a document is looked at, in bytes.
const WORK: usize = 64 * 1024 * 1024;

/// What it costs to look at a line, in bytes of a line.
const LINE: usize = 16;

/// Which lines are most like a text.
pub(super) struct Alike {
    /// The index of the first of them, and how alike they are.
    pub(super) place: Option<(usize, Likeness)>,
    /// How many lines were looked at, where not all were.
    pub(super) looked_at: Option<u64>,
}

/// Finds the lines that are most like these.
pub(super) fn lines_like(
    document: &Document<'_>,
    pieces: &[&str],
    stop: Stop<'_>,
) -> Result<Alike, CalledOff> {
    let nothing = Alike { place: None, looked_at: None };
    let sought: Vec<(String, Runs)> =
        pieces.iter().take(LINES).map(|piece| folded(piece)).collect();
    let longest = sought.iter().map(|(line, _)| line.len()).max().filter(|len| *len > 0);
    let anchor = sought.iter().position(|(line, _)| Some(line.len()) == longest);
    let Some((anchor, (_, anchor_runs))) = anchor.and_then(|at| Some((at, sought.get(at)?))) else {
        return Ok(nothing);
    };
    let mut by_line: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, (line, _)) in sought.iter().enumerate().filter(|(_, (line, _))| says_much(line)) {
        by_line.entry(line).or_default().push(index);
    }
    // What is shorter can neither vote nor be alike.
    let voting = by_line.keys().map(|line| line.len()).min().unwrap_or(usize::MAX);
    let least_bytes = voting.min(anchor_runs.least_bytes());

    // Lines that are the same vote for where the text would begin; lines like the longest one do too.
    let mut votes: HashMap<usize, u32> = HashMap::new();
    let mut alike: Vec<(Likeness, usize)> = Vec::new();
    let mut cast = 0;
    let (mut patience, mut left, mut looked_at) = (Patience::new(stop), WORK, None);
    let mut line = String::new();
    let mut tally = Tally::default();
    for (index, content) in document.lines().enumerate() {
        let work = content.len().min(LINE_BYTES) + LINE;
        patience.work(work)?;
        let Some(rest) = left.checked_sub(work) else {
            looked_at = Some(index as u64);
            break;
        };
        left = rest;
        // Folding makes no line longer than three times what it was.
        if content.len() * 3 < least_bytes {
            continue;
        }
        fold(content, &mut line);
        if line.len() < least_bytes {
            continue;
        }
        for at in by_line.get(line.as_str()).into_iter().flatten().take(4) {
            if cast < VOTES && index >= *at {
                cast += 1;
                *votes.entry(index - at).or_default() += line.len() as u32;
            }
        }
        let likeness = tally.likeness(anchor_runs, &line);
        if likeness >= LEAST {
            alike.push((likeness, index.saturating_sub(anchor)));
            if alike.len() >= 64 * PLACES {
                keep_best(&mut alike);
            }
        }
    }
    keep_best(&mut alike);
    let mut votes: Vec<(u32, usize)> =
        votes.into_iter().map(|(start, votes)| (votes, start)).collect();
    votes.sort_unstable_by_key(|(votes, start)| (std::cmp::Reverse(*votes), *start));

    let voted = votes.iter().take(PLACES).map(|(_, start)| *start);
    let mut starts: Vec<usize> = voted.chain(alike.iter().map(|(_, start)| *start)).collect();
    starts.sort_unstable();
    starts.dedup();
    let place = closenesses(document, &sought, &starts)
        // Of places that are equally alike, the first.
        .max_by_key(|(start, likeness)| (*likeness, std::cmp::Reverse(*start)))
        .filter(|(_, likeness)| *likeness >= LEAST);
    Ok(Alike { place, looked_at })
}

fn keep_best(alike: &mut Vec<(Likeness, usize)>) {
    alike.sort_unstable_by_key(|(likeness, start)| (std::cmp::Reverse(*likeness), *start));
    alike.truncate(PLACES);
}

/// How alike all lines from each of some starts on are, which are in order.
fn closenesses<'c>(
    document: &'c Document<'_>,
    sought: &'c [(String, Runs)],
    starts: &'c [usize],
) -> impl Iterator<Item = (usize, Likeness)> + 'c {
    let text = document.text();
    let mut lines = document.split(text).enumerate();
    starts.iter().filter_map(move |start| {
        let (_, line) = lines.find(|(index, _)| index == start)?;
        let from_there = document.split(text.get(line.start..)?).map(|line| line.content);
        Some((*start, closeness(from_there, sought)?))
    })
}

/// How alike lines are, the long ones counting for more.
fn closeness<'l>(
    mut lines: impl Iterator<Item = &'l str>,
    sought: &[(String, Runs)],
) -> Option<Likeness> {
    let mut sum = 0;
    let mut whole = 0;
    for (line, runs) in sought {
        let weight = line.len() as u64 + 1;
        whole += weight;
        let Some(there) = lines.next() else { continue };
        let (there, there_runs) = folded(there);
        let likeness = if there == *line { Likeness::SAME } else { runs.likeness(&there_runs) };
        sum += weight * u64::from(likeness.0);
    }
    u32::try_from(sum.checked_div(whole)?).ok().map(Likeness)
}

/// What counts of a line, with its runs.
fn folded(line: &str) -> (String, Runs) {
    let mut text = String::new();
    fold(line, &mut text);
    let runs = Runs::of(&text);
    (text, runs)
}

/// Writes what counts of a line in the place of what was there.
fn fold(line: &str, text: &mut String) {
    text.clear();
    let line = line.get(..line.floor_char_boundary(LINE_BYTES)).unwrap_or(line);
    MatchGrade::LookAlike.fold_line(line, text);
}

/// Whether a line stands in few places: a brace alone does not.
fn says_much(line: &str) -> bool {
    line.len() >= 4 && line.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

const WORDS: usize = 64;

/// A set of runs of three bytes, each by a few bits of a hash.
struct Runs {
    bits: [u64; WORDS],
    count: u32,
}

/// Returns the hashes of the runs of a line, fewer than 64 times [`WORDS`].
fn hashes(line: &str) -> impl Iterator<Item = usize> {
    let mut run = 0_u32;
    line.bytes().filter(|byte| *byte != b' ').chain([0, 0]).map(move |byte| {
        run = (run << 8 | u32::from(byte)) & 0x00ff_ffff;
        (run.wrapping_mul(0x9e37_79b1) >> 20) as usize
    })
}

impl Runs {
    fn of(line: &str) -> Self {
        let mut bits = [0_u64; WORDS];
        for hash in hashes(line) {
            if let Some(word) = bits.get_mut(hash / 64) {
                *word |= 1 << (hash % 64);
            }
        }
        let count = bits.iter().map(|word| word.count_ones()).sum();
        Self { bits, count }
    }

    fn has(&self, hash: usize) -> bool {
        self.bits.get(hash / 64).is_some_and(|word| word >> (hash % 64) & 1 == 1)
    }

    /// How alike two lines are: as wholes, and how much of this one is in the other.
    fn likeness(&self, other: &Self) -> Likeness {
        let both = self.bits.iter().zip(&other.bits);
        self.sharing(both.map(|(a, b)| (a & b).count_ones()).sum(), other.count)
    }

    /// How alike a line is that shares so many runs and has so many.
    fn sharing(&self, shared: u32, count: u32) -> Likeness {
        let whole = (200 * shared).checked_div(self.count + count).unwrap_or(0);
        let part = (100 * shared).checked_div(self.count).unwrap_or(0);
        Likeness(u32::midpoint(whole, part))
    }

    /// How long a line has to be to be alike at all.
    fn least_bytes(&self) -> usize {
        // A line has two runs more than bytes at most, and is most alike where it shares all.
        let is_alike = |bytes: &u32| self.sharing(bytes + 2, bytes + 2) >= LEAST;
        (0..=self.count).find(is_alike).unwrap_or(self.count) as usize
    }
}

/// Compares one line after another to the same one, at a cost that goes with their lengths.
struct Tally {
    /// For each run the number of the last line that had it.
    met: Vec<u32>,
    line: u32,
}

impl Default for Tally {
    fn default() -> Self {
        Self { met: vec![0; WORDS * 64], line: 0 }
    }
}

impl Tally {
    /// How alike a line is to the one with these runs, as [`Runs::likeness`] has it.
    fn likeness(&mut self, runs: &Runs, line: &str) -> Likeness {
        self.line = self.line.wrapping_add(1);
        let (mut shared, mut count) = (0, 0);
        for hash in hashes(line) {
            let Some(met) = self.met.get_mut(hash) else { continue };
            if *met != self.line {
                *met = self.line;
                count += 1;
                shared += u32::from(runs.has(hash));
            }
        }
        runs.sharing(shared, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_alike_however_that_is_counted() {
        let mut tally = Tally::default();
        let lines = ["", "a", "let x = 1;", "let xx = 11;", "aaaaaaaaaaaaaa", "größe = „x“"];
        for (one, other) in lines.iter().flat_map(|one| lines.map(|other| (*one, other))) {
            let (runs, others) = (Runs::of(one), Runs::of(other));
            assert_eq!(tally.likeness(&runs, other), runs.likeness(&others), "{one} {other}");
            let is_alike = runs.likeness(&others) >= LEAST;
            assert!(!is_alike || other.len() >= runs.least_bytes(), "{one} {other}");
        }
    }
}
