//! How alike lines are, told by the runs of three bytes they share.

use std::collections::HashMap;

use crate::document::Document;
use crate::grade::MatchGrade;

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

/// Returns the index of the first of the lines that are most like these, and how alike they are.
pub(super) fn lines_like(document: &Document<'_>, pieces: &[&str]) -> Option<(usize, Likeness)> {
    let sought: Vec<(String, Runs)> =
        pieces.iter().take(LINES).map(|piece| folded(piece)).collect();
    let longest = sought.iter().map(|(line, _)| line.len()).max().filter(|len| *len > 0)?;
    let anchor = sought.iter().position(|(line, _)| line.len() == longest)?;
    let anchor_runs = &sought.get(anchor)?.1;
    let mut by_line: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, (line, _)) in sought.iter().enumerate().filter(|(_, (line, _))| says_much(line)) {
        by_line.entry(line).or_default().push(index);
    }

    // Lines that are the same vote for where the text would begin; lines like the longest one do too.
    let mut votes: HashMap<usize, u32> = HashMap::new();
    let mut alike: Vec<(Likeness, usize)> = Vec::new();
    let mut cast = 0;
    for (index, line) in document.lines().enumerate() {
        let (line, runs) = folded(line);
        for at in by_line.get(line.as_str()).into_iter().flatten().take(4) {
            if cast < VOTES && index >= *at {
                cast += 1;
                *votes.entry(index - at).or_default() += line.len() as u32;
            }
        }
        let likeness = anchor_runs.likeness(&runs);
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
    starts
        .into_iter()
        .filter_map(|start| Some((start, closeness(document, &sought, start)?)))
        // Of places that are equally alike, the first.
        .max_by_key(|(start, likeness)| (*likeness, std::cmp::Reverse(*start)))
        .filter(|(_, likeness)| *likeness >= LEAST)
}

fn keep_best(alike: &mut Vec<(Likeness, usize)>) {
    alike.sort_unstable_by_key(|(likeness, start)| (std::cmp::Reverse(*likeness), *start));
    alike.truncate(PLACES);
}

/// How alike all lines from a start on are, the long ones counting for more.
fn closeness(document: &Document<'_>, sought: &[(String, Runs)], start: usize) -> Option<Likeness> {
    let mut lines = document.lines().skip(start);
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
    let line = line.get(..line.floor_char_boundary(LINE_BYTES)).unwrap_or(line);
    let mut text = String::with_capacity(line.len());
    MatchGrade::LookAlike.fold_line(line, &mut text);
    let runs = Runs::of(&text);
    (text, runs)
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

impl Runs {
    fn of(line: &str) -> Self {
        let mut bits = [0_u64; WORDS];
        let mut run = 0_u32;
        for byte in line.bytes().filter(|byte| *byte != b' ').chain([0, 0]) {
            run = (run << 8 | u32::from(byte)) & 0x00ff_ffff;
            let hash = run.wrapping_mul(0x9e37_79b1) >> 20;
            if let Some(word) = bits.get_mut(hash as usize / 64) {
                *word |= 1 << (hash % 64);
            }
        }
        let count = bits.iter().map(|word| word.count_ones()).sum();
        Self { bits, count }
    }

    /// How alike two lines are: as wholes, and how much of this one is in the other.
    fn likeness(&self, other: &Self) -> Likeness {
        let both = self.bits.iter().zip(&other.bits);
        let shared: u32 = both.map(|(a, b)| (a & b).count_ones()).sum();
        let whole = (200 * shared).checked_div(self.count + other.count).unwrap_or(0);
        let part = (100 * shared).checked_div(self.count).unwrap_or(0);
        Likeness(u32::midpoint(whole, part))
    }
}
