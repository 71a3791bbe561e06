//! Classes of characters, and what tokenizers make of them.

/// What kind of character it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// `a` to `z`.
    Lower,
    /// `A` to `Z`.
    Upper,
    /// `0` to `9`.
    Digit,
    /// Blanks, tabs and line ends.
    Space,
    /// The other visible characters of ASCII.
    Mark,
    /// Everything else, with what it costs in hundredths of a token.
    Other(u64),
}

impl Class {
    pub(super) fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            ' ' | '\n' | '\t' | '\r' => Self::Space,
            '!'..='~' => Self::Mark,
            _ => Self::Other(beyond_ascii(character)),
        }
    }
}

/// What a character costs by its script, in hundredths of a token: first character, last one, cost.
const SCRIPTS: [(char, char, u64); 17] = [
    ('\u{a0}', '\u{24f}', 165),    // Latin with accents
    ('\u{370}', '\u{3ff}', 125),   // Greek
    ('\u{400}', '\u{52f}', 58),    // Cyrillic
    ('\u{590}', '\u{5ff}', 125),   // Hebrew
    ('\u{600}', '\u{6ff}', 110),   // Arabic
    ('\u{900}', '\u{97f}', 140),   // Devanagari
    ('\u{e00}', '\u{e7f}', 186),   // Thai
    ('\u{1e00}', '\u{1eff}', 230), // Latin with two accents
    ('\u{2000}', '\u{206f}', 130), // dashes and quotes
    ('\u{2070}', '\u{24ff}', 180), // arrows and signs
    ('\u{2500}', '\u{259f}', 90),  // lines and blocks
    ('\u{25a0}', '\u{2bff}', 220), // symbols
    ('\u{3000}', '\u{303f}', 130), // marks of Chinese and Japanese
    ('\u{3040}', '\u{30ff}', 115), // kana
    ('\u{4e00}', '\u{9fff}', 125), // Han
    ('\u{ac00}', '\u{d7a3}', 140), // Hangul
    ('\u{ff00}', '\u{ffef}', 150), // wide forms
];

/// Returns what a character costs: by its script, and at most a token for each of its bytes.
fn beyond_ascii(character: char) -> u64 {
    let most = character.len_utf8() as u64 * 100;
    let script = SCRIPTS.iter().find(|(first, last, _)| (*first..=*last).contains(&character));
    script.map_or(most, |(_, _, cost)| most.min(*cost))
}

/// Which letters often follow each letter from `a` on, in English and in names of code.
///
/// Counted over each word once, so that rare words weigh as much as frequent ones. These pairs are some 99 % of those in
/// words, and less than half of those that chance makes.
const FOLLOWERS: [u32; 26] = [
    letters(b"bcdfgiklmnprstuvwxy"),
    letters(b"aeijlorsuy"),
    letters(b"acehikloprstuy"),
    letters(b"adegilorsuy"),
    letters(b"abcdefghilmnopqrstvwxy"),
    letters(b"aefilnorstu"),
    letters(b"aehilnorsu"),
    letters(b"aeiorstuy"),
    letters(b"abcdefgklmnoprstvxz"),
    letters(b"eos"),
    letters(b"eins"),
    letters(b"adefilopstuvy"),
    letters(b"abceilmopstu"),
    letters(b"acdefgiklnoprstuvwy"),
    letters(b"abcdefgiklmnoprstuvwx"),
    letters(b"aehiloprstuy"),
    letters(b"u"),
    letters(b"acdegiklmnoprstuvy"),
    letters(b"acehiklnopstuwy"),
    letters(b"acdefhiloprstuwxy"),
    letters(b"abcdefgilmnprst"),
    letters(b"aei"),
    letters(b"aehinors"),
    letters(b"aceiptx"),
    letters(b"enopst"),
    letters(b"e"),
];

/// Makes a set of lower-case letters, one bit for each.
const fn letters(mut letters: &[u8]) -> u32 {
    let mut set = 0;
    while let [letter, rest @ ..] = letters {
        set |= 1 << (*letter - b'a');
        letters = rest;
    }
    set
}

/// Tells whether a letter of ASCII often follows another, whatever their case.
pub(super) fn follows_often(first: char, second: char) -> bool {
    let place = |letter: char| u32::from(letter.to_ascii_lowercase()).wrapping_sub(u32::from('a'));
    let followers = usize::try_from(place(first)).ok().and_then(|it| FOLLOWERS.get(it).copied());
    followers.unwrap_or(0).checked_shr(place(second)).is_some_and(|it| it & 1 == 1)
}

/// Returns what a mark costs behind another one. Those of JSON mostly share a token.
pub(super) fn mark_after(first: char, second: char) -> u64 {
    let of_json = |mark: char| matches!(mark, '"' | '{' | '}' | '[' | ']' | ':' | ',' | '\\');
    if of_json(first) && of_json(second) { 38 } else { 82 }
}

/// Characters of a script, and how many of them are among those that its texts are full of.
///
/// Of thousands of characters tokenizers know the frequent ones. A text without the most frequent of all is a list of rare
/// ones, and each of those is taken apart.
#[derive(Default)]
pub(super) struct Frequent {
    all: u64,
    frequent: u64,
}

impl Frequent {
    pub(super) fn add(&mut self, is_frequent: bool) {
        self.all = self.all.saturating_add(1);
        self.frequent = self.frequent.saturating_add(u64::from(is_frequent));
    }

    /// Counts what shows that a text is written in words, without being of the script.
    pub(super) fn add_frequent(&mut self) {
        self.frequent = self.frequent.saturating_add(1);
    }

    /// Returns how many characters count as rare: all, unless one of `share` is a frequent one.
    pub(super) fn rare(&self, share: u64) -> u64 {
        if self.frequent.saturating_mul(share) < self.all { self.all } else { 0 }
    }
}

/// Tells whether a character is among the most frequent of Chinese texts.
pub(super) fn is_frequent_han(character: char) -> bool {
    "的一是不了人我在有他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所\
     然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日這個們來為國時會對發後\
     說過種無與"
        .contains(character)
}

/// Tells whether a character is among the most frequent of Korean texts.
pub(super) fn is_frequent_hangul(character: char) -> bool {
    "이다는을의가고에하지사은로도기를어시자리아한나대서일해인".contains(character)
}
