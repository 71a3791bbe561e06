//! A second reader, for the simplest texts alone.
//!
//! It knows nothing of the grammar that the first reader is made of, so a fault in that grammar does not get past it:
//! what is allowed by rule has to come out of both alike. Everything a shell would give a meaning of its own beyond
//! quotes, separators, parentheses and simple redirections makes it give up.

use std::iter::Peekable;
use std::str::Chars;

/// The commands of a plain text, and where its redirections lead.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) commands: Vec<Vec<String>>,
    pub(super) redirections: Vec<(String, String)>,
}

/// Words that mean something else at the start of a command. `time` does too, and is read as a program that runs others.
pub(super) const RESERVED: &[&str] = &[
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "until", "while",
];

/// Reads a text, or gives up.
pub(super) fn read(text: &str) -> Option<Plain> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        plain: Plain::default(),
        words: Vec::new(),
        depth: 0,
    };
    reader.read()?;
    reader.plain.redirections.sort();
    Some(reader.plain)
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    plain: Plain,
    /// The words of the command that is being read.
    words: Vec<String>,
    /// Open parentheses.
    depth: usize,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        // Whether a command has to follow, and whether a parenthesis was just closed.
        let (mut is_owed, mut is_closed) = (false, false);
        while let Some(character) = self.rest.peek().copied() {
            match character {
                ' ' | '\t' => {
                    self.rest.next();
                }
                '#' => while self.rest.next_if(|it| *it != '\n').is_some() {},
                '\n' => {
                    self.rest.next();
                    self.end();
                    is_closed = false;
                }
                ';' | '&' | '|' => {
                    let is_empty = self.words.is_empty() && !is_closed;
                    if character == '&' && self.ahead(1) == Some('>') {
                        return None;
                    }
                    if is_empty {
                        return None;
                    }
                    self.rest.next();
                    is_owed = match (character, self.rest.peek()) {
                        ('&', Some('&')) | ('|', Some('|' | '&')) => {
                            self.rest.next();
                            true
                        }
                        (';', Some(';' | '&')) => return None,
                        (character, _) => character == '|',
                    };
                    self.end();
                    is_closed = false;
                }
                '(' => {
                    if !self.words.is_empty() || is_closed || self.ahead(1) == Some('(') {
                        return None;
                    }
                    self.rest.next();
                    self.depth += 1;
                    is_owed = true;
                }
                ')' => {
                    if self.depth == 0 || is_owed {
                        return None;
                    }
                    self.rest.next();
                    self.depth -= 1;
                    self.end();
                    is_closed = true;
                }
                '<' | '>' => self.redirection(String::new())?,
                _ if is_closed => return None,
                _ => {
                    self.word_or_descriptor()?;
                    is_owed = false;
                }
            }
        }
        self.end();
        (self.depth == 0 && !is_owed).then_some(())
    }

    fn end(&mut self) {
        if !self.words.is_empty() {
            self.plain.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn ahead(&self, by: usize) -> Option<char> {
        self.rest.clone().nth(by)
    }

    /// Reads a word, which is the descriptor of a redirection when it is a number right before one.
    fn word_or_descriptor(&mut self) -> Option<()> {
        let (word, is_bare) = self.word()?;
        if is_bare
            && word.chars().all(|c| c.is_ascii_digit())
            && matches!(self.rest.peek(), Some('<' | '>'))
        {
            return self.redirection(word);
        }
        if self.words.is_empty() {
            let is_assignment = word.split_once('=').is_some_and(|(name, _)| is_name(name));
            if is_bare && RESERVED.contains(&word.as_str()) || is_assignment {
                return None;
            }
        }
        self.words.push(word);
        Some(())
    }

    fn redirection(&mut self, mut operator: String) -> Option<()> {
        let arrow = self.rest.next()?;
        operator.push(arrow);
        while let Some(more) = self.rest.next_if(|it| matches!(it, '<' | '>' | '&' | '|' | '(')) {
            operator.push(more);
        }
        let kind = operator.trim_start_matches(|c: char| c.is_ascii_digit());
        if !matches!(kind, "<" | ">" | ">>" | ">|" | "<&" | ">&" | "<<<") {
            return None;
        }
        while self.rest.next_if(|it| matches!(it, ' ' | '\t')).is_some() {}
        let (target, _) = self.word()?;
        self.plain.redirections.push((operator, target));
        Some(())
    }

    /// Reads one word, and tells whether nothing in it is quoted.
    fn word(&mut self) -> Option<(String, bool)> {
        let (mut word, mut is_bare, mut is_there) = (String::new(), true, false);
        while let Some(character) = self.rest.peek().copied() {
            match character {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                // A home folder, where a shell looks for one.
                '~' if word.is_empty() || word.contains([':', '=']) => return None,
                '\'' => {
                    self.rest.next();
                    is_bare = false;
                    loop {
                        match self.rest.next()? {
                            '\'' => break,
                            quoted => word.push(readable(quoted)?),
                        }
                    }
                }
                '"' => {
                    self.rest.next();
                    is_bare = false;
                    self.quoted(&mut word)?;
                }
                '\\' => {
                    self.rest.next();
                    is_bare = false;
                    word.push(self.rest.next().filter(|it| *it == ' ' || it.is_ascii_graphic())?);
                }
                '%' | '+' | ',' | '-' | '.' | '/' | ':' | '=' | '@' | '_' | '^' | '#' | '~'
                | '!' => {
                    self.rest.next();
                    word.push(character);
                }
                plain if plain.is_ascii_alphanumeric() => {
                    self.rest.next();
                    word.push(plain);
                }
                _ => return None,
            }
            is_there = true;
        }
        is_there.then_some((word, is_bare))
    }

    fn quoted(&mut self, word: &mut String) -> Option<()> {
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '$' | '`' => return None,
                '\\' => match self.rest.next()? {
                    escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                    '\n' => return None,
                    other => {
                        word.push('\\');
                        word.push(readable(other)?);
                    }
                },
                other => word.push(readable(other)?),
            }
        }
    }
}

/// Refuses what has no place in a word, even within quotes.
fn readable(character: char) -> Option<char> {
    (!character.is_control() || matches!(character, '\n' | '\t')).then_some(character)
}

pub(super) fn is_name(text: &str) -> bool {
    let name = text.strip_suffix('+').unwrap_or(text);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = read(text).map_or("given up".to_owned(), |plain| {
            let commands = plain.commands.iter().map(|it| format!("{it:?}"));
            let redirections = plain.redirections.iter().map(|(it, to)| format!("{it} {to:?}"));
            commands.chain(redirections).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn commands_in_a_row_are_read() {
        check("", "");
        check("ls", r#"["ls"]"#);
        check(
            "ls -la 'a b' \"c \\$d\" e\\;f x#y # z",
            r#"["ls", "-la", "a b", "c $d", "e;f", "x#y"]"#,
        );
        check("a&&b||c;d&e|f\n\ng|&h", r#"["a"] ["b"] ["c"] ["d"] ["e"] ["f"] ["g"] ["h"]"#);
        check("(a; (b)) && c", r#"["a"] ["b"] ["c"]"#);
        check("a 2>&1 >/dev/null <<< 'x y' 3", r#"["a", "3"] 2>& "1" <<< "x y" > "/dev/null""#);
        check("'if' \\if x=1 ''", r#"["if", "if", "x=1", ""]"#);
        check("git diff HEAD~1 a^", r#"["git", "diff", "HEAD~1", "a^"]"#);
        check("ls>a '2'>b", r#"["ls", "2"] > "a" > "b""#);
        check("1a=b c", r#"["1a=b", "c"]"#);
        check("a.b=c", r#"["a.b=c"]"#);
        check("=b", r#"["=b"]"#);
    }

    #[test]
    fn whatever_a_shell_gives_a_meaning_of_its_own_is_given_up() {
        let texts = [
            "$x", "`id`", "\"$x\"", "\"`id`\"", "a*", "a?", "[a]", "{a,b}", "~/x", "a=~", "A=1 b",
            "A+=1", "a[0]=1", "_=1", "_a1=1", "é", "a\rb", "'a\rb'", "a\0b", "((1))", "(a)(b)",
            "a(b)", "a()", "()", "(a", "a)", "(a &&)", ";a", "a &&", "a |", "a;;b", "a\\\nb",
            "a &> b", "a <<x", "a <(b)", "if a", "! a", "{ a; }", "'a", "\"a", "a\\", "a <",
            "(a) b",
        ];
        for text in texts {
            check(text, "given up");
        }
    }
}
