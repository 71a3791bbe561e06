use std::borrow::Cow;

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
    pub(crate) fn between<'p>(
        mut pairs: impl Iterator<Item = (Cow<'p, str>, Cow<'p, str>)>,
    ) -> Option<Self> {
        // What stays as it is only goes with tabs for spaces, and only where it is nothing.
        let (mut stays, mut stays_indented) = (false, false);
        let (written, there) = loop {
            let Some((written, there)) = pairs.next() else { return Some(Self::None) };
            if !Self::None.leads(&written, &there) {
                break (written, there);
            }
            stays = true;
            stays_indented |= !there.is_empty();
        };
        if stays_indented {
            return None;
        }
        let width = |spaces: &str, tabs: &str| {
            let width = spaces.len().checked_div(tabs.len())?;
            TAB_WIDTHS.contains(&width).then_some(width)
        };
        let more = there.strip_suffix(&*written).map(|more| Self::More(more.to_owned()));
        let less = written.strip_suffix(&*there).map(|less| Self::Less(less.to_owned()));
        let mut candidates = vec![
            more.filter(|_| !stays),
            less.filter(|_| !stays),
            width(&written, &there).map(Self::Tabs),
            width(&there, &written).map(Self::Spaces),
        ];
        candidates.retain(|shift| shift.as_ref().is_some_and(|it| it.leads(&written, &there)));
        for (written, there) in pairs {
            candidates.retain(|shift| shift.as_ref().is_some_and(|it| it.leads(&written, &there)));
            if candidates.is_empty() {
                return None;
            }
        }
        candidates.into_iter().flatten().next()
    }

    /// Whether a written indentation shifted is the one that is there.
    fn leads(&self, written: &str, there: &str) -> bool {
        match self {
            Self::None => written == there,
            Self::More(more) => there.strip_prefix(more.as_str()) == Some(written),
            Self::Less(less) => written.strip_prefix(less.as_str()) == Some(there),
            Self::Tabs(width) => {
                are(written, b' ') && are(there, b'\t') && written.len() == there.len() * width
            }
            Self::Spaces(width) => {
                are(written, b'\t') && are(there, b' ') && there.len() == written.len() * width
            }
        }
    }

    /// Shifts one indentation; nothing where that cannot be done.
    fn of(&self, written: &str) -> Option<String> {
        match self {
            Self::None => Some(written.to_owned()),
            Self::More(more) => Some(format!("{more}{written}")),
            Self::Less(less) => written.strip_prefix(less.as_str()).map(str::to_owned),
            Self::Tabs(width) => {
                let (tabs, rest) = (written.len() / width, written.len() % width);
                are(written, b' ').then(|| "\t".repeat(tabs) + &" ".repeat(rest))
            }
            Self::Spaces(width) => are(written, b'\t').then(|| " ".repeat(written.len() * width)),
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

fn are(indentation: &str, wanted: u8) -> bool {
    indentation.bytes().all(|byte| byte == wanted)
}
