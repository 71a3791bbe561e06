/// How lines are indented, measured by how somebody wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shift {
    /// As they were written.
    #[default]
    None,
    /// By this much more.
    More(String),
    /// By this much less.
    Less(String),
    /// By one tab for so many spaces.
    Tabs(usize),
    /// By so many spaces for one tab.
    Spaces(usize),
}

/// How many spaces one tab may be written as.
const TAB_WIDTHS: std::ops::RangeInclusive<usize> = 1..=8;

impl Shift {
    /// Finds the one shift that leads from each written indentation to the one that is there.
    pub(super) fn between(pairs: &[(String, String)]) -> Option<Self> {
        if pairs.iter().all(|(written, there)| written == there) {
            return Some(Self::None);
        }
        let (written, there) = pairs.first()?;
        let candidates = [
            there.strip_suffix(written.as_str()).map(|more| Self::More(more.to_owned())),
            written.strip_suffix(there.as_str()).map(|less| Self::Less(less.to_owned())),
            widths(pairs, |(written, there)| (written, there)).map(Self::Tabs),
            widths(pairs, |(written, there)| (there, written)).map(Self::Spaces),
        ];
        candidates.into_iter().flatten().find(|shift| {
            pairs.iter().all(|(written, there)| shift.of(written).as_ref() == Some(there))
        })
    }

    /// Shifts one indentation; nothing where that cannot be done.
    fn of(&self, written: &str) -> Option<String> {
        match self {
            Self::None => Some(written.to_owned()),
            Self::More(more) => Some(format!("{more}{written}")),
            Self::Less(less) => written.strip_prefix(less.as_str()).map(str::to_owned),
            Self::Tabs(width) => {
                let only_spaces = written.bytes().all(|byte| byte == b' ');
                let (tabs, rest) = (written.len() / width, written.len() % width);
                only_spaces.then(|| "\t".repeat(tabs) + &" ".repeat(rest))
            }
            Self::Spaces(width) => {
                let only_tabs = written.bytes().all(|byte| byte == b'\t');
                only_tabs.then(|| " ".repeat(written.len() * width))
            }
        }
    }

    /// Shifts the lines of a text, the first only where `first` says so. Blank lines stay.
    ///
    /// # Errors
    ///
    /// Fails with the number of the line, from 1, that is not indented by what would have to go.
    pub(crate) fn apply(&self, text: &str, first: bool) -> Result<String, u64> {
        if *self == Self::None {
            return Ok(text.to_owned());
        }
        let mut shifted = String::with_capacity(text.len() + 64);
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let content = line.trim_start_matches([' ', '\t']);
            let stays = (index == 0 && !first) || content.trim_end_matches(['\r', '\n']).is_empty();
            if stays {
                shifted.push_str(line);
                continue;
            }
            let written = line.strip_suffix(content).unwrap_or_default();
            shifted.push_str(&self.of(written).ok_or(index as u64 + 1)?);
            shifted.push_str(content);
        }
        Ok(shifted)
    }
}

/// How many spaces stand for one tab, by the first line that has either.
fn widths<'p>(
    pairs: &'p [(String, String)],
    spaces_and_tabs: impl Fn(&'p (String, String)) -> (&'p String, &'p String),
) -> Option<usize> {
    let (spaces, tabs) = pairs.iter().map(spaces_and_tabs).find(|(_, tabs)| !tabs.is_empty())?;
    let width = spaces.len() / tabs.len();
    TAB_WIDTHS.contains(&width).then_some(width)
}
