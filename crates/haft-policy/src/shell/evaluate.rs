//! What a program gets for a word: quotes taken away, or why that is not certain.

use std::iter::Peekable;
use std::str::Chars;

use tree_sitter::Node;

use super::{Unknown, Word};

/// A character, and whether quoting keeps a shell from giving it a meaning.
type Quoted = (char, bool);

/// Reads the word that a node stands for.
pub(super) fn word(node: Node<'_>, source: &str) -> Word {
    let text = text_of(node, source);
    let mut characters = Vec::new();
    let meaning = piece(node, source, &mut characters).and_then(|()| whole(&characters));
    Word::new(text, meaning)
}

pub(super) fn text_of<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Looks for what a shell expands in a word once its quotes are known.
fn whole(characters: &[Quoted]) -> Result<String, Unknown> {
    let is_bare = |wanted: char| characters.contains(&(wanted, false));
    let from = |wanted: char| {
        let at = characters.iter().position(|it| *it == (wanted, false));
        at.and_then(|at| characters.get(at..)).unwrap_or_default()
    };
    if from('{').contains(&('}', false)) && from('{').iter().any(|(c, _)| matches!(c, ',' | '.')) {
        return Err(Unknown::Braces);
    }
    if is_bare('*') || is_bare('?') || from('[').contains(&(']', false)) {
        return Err(Unknown::Glob);
    }
    let mut before = None;
    for (character, is_quoted) in characters {
        if *character == '~' && !is_quoted && matches!(before, None | Some(':' | '=')) {
            return Err(Unknown::Home);
        }
        before = Some(*character);
    }
    Ok(characters.iter().map(|(character, _)| *character).collect())
}

/// Reads one piece of a word. Nothing holds another of its kind, so this goes a few levels deep.
fn piece(node: Node<'_>, source: &str, out: &mut Vec<Quoted>) -> Result<(), Unknown> {
    let text = text_of(node, source);
    match node.kind() {
        "command_name" | "concatenation" | "variable_assignment" => {
            let mut at = node.start_byte();
            for child in node.children(&mut node.walk()) {
                // What lies between two pieces was left out by the grammar, and may not be nothing to a shell.
                if child.start_byte() != at || child.kind() == node.kind() {
                    return Err(Unknown::Quoting);
                }
                at = child.end_byte();
                // Behind another piece, a text to be translated is not told from a dollar and a text.
                if child.kind() == "$" && at < node.end_byte() {
                    return Err(Unknown::Translation);
                }
                piece(child, source, out)?;
            }
            if at == node.end_byte() { Ok(()) } else { Err(Unknown::Quoting) }
        }
        "word" | "number" | "variable_name" | "file_descriptor" | "test_operator" | "$" | "=="
        | "=~" | "=" | "+=" => {
            if node.named_child_count() > 0 {
                return Err(Unknown::Expansion);
            }
            bare(text, out)
        }
        "raw_string" => {
            let inner = text.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
            let inner = inner.ok_or(Unknown::Quoting)?;
            out.extend(inner.chars().map(|it| (it, true)));
            Ok(())
        }
        "string" => string(node, text, out),
        "ansi_c_string" => ansi_c(text, out),
        "translated_string" => Err(Unknown::Translation),
        "simple_expansion" | "expansion" => Err(Unknown::Expansion),
        "command_substitution" | "process_substitution" | "``" => Err(Unknown::Substitution),
        "arithmetic_expansion" => Err(Unknown::Arithmetic),
        "brace_expression" => Err(Unknown::Braces),
        _ => Err(Unknown::Quoting),
    }
}

/// Reads what stands outside quotes.
fn bare(text: &str, out: &mut Vec<Quoted>) -> Result<(), Unknown> {
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(escaped) => out.push((escaped, true)),
                None => return Err(Unknown::Quoting),
            },
            '`' => return Err(Unknown::Substitution),
            other => out.push((other, false)),
        }
    }
    Ok(())
}

/// Reads what stands between double quotes.
fn string(node: Node<'_>, text: &str, out: &mut Vec<Quoted>) -> Result<(), Unknown> {
    for child in node.named_children(&mut node.walk()) {
        match child.kind() {
            "string_content" => {}
            "arithmetic_expansion" => return Err(Unknown::Arithmetic),
            "command_substitution" => return Err(Unknown::Substitution),
            _ => return Err(Unknown::Expansion),
        }
    }
    let inner =
        text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).ok_or(Unknown::Quoting)?;
    let mut rest = inner.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(escaped @ ('$' | '`' | '"' | '\\')) => out.push((escaped, true)),
                Some(other) => out.extend([('\\', true), (other, true)]),
                None => return Err(Unknown::Quoting),
            },
            '"' | '`' => return Err(Unknown::Quoting),
            // The grammar has told expansions apart; a dollar that could still begin one is not trusted.
            '$' if rest
                .peek()
                .is_some_and(|it| it.is_alphanumeric() || "_{([?!#*@$-".contains(*it)) =>
            {
                return Err(Unknown::Expansion);
            }
            other => out.push((other, true)),
        }
    }
    Ok(())
}

/// Reads `$'…'`, whose end is where its escapes say and not where the grammar finds it.
fn ansi_c(text: &str, out: &mut Vec<Quoted>) -> Result<(), Unknown> {
    let inner =
        text.strip_prefix("$'").and_then(|it| it.strip_suffix('\'')).ok_or(Unknown::Quoting)?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut rest = inner.chars().peekable();
    while let Some(character) = rest.next() {
        let decoded = match character {
            '\'' => return Err(Unknown::Quoting),
            '\\' => match rest.next().ok_or(Unknown::Quoting)? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'e' | 'E' => '\u{1b}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                quote @ ('\\' | '\'' | '"' | '?') => quote,
                first @ '0'..='7' => {
                    let first = first.to_digit(8).unwrap_or_default();
                    bytes.push(number(&mut rest, first, 8, 2) as u8);
                    continue;
                }
                // Without digits it is the byte 0, which no word holds.
                'x' => {
                    bytes.push(number(&mut rest, 0, 16, 2) as u8);
                    continue;
                }
                'u' => char::from_u32(number(&mut rest, 0, 16, 4)).ok_or(Unknown::Quoting)?,
                'U' => char::from_u32(number(&mut rest, 0, 16, 8)).ok_or(Unknown::Quoting)?,
                _ => return Err(Unknown::Quoting),
            },
            other => other,
        };
        bytes.extend(decoded.encode_utf8(&mut [0; 4]).as_bytes());
    }
    let decoded = String::from_utf8(bytes).map_err(|_| Unknown::Quoting)?;
    if decoded.contains('\0') {
        return Err(Unknown::Quoting);
    }
    out.extend(decoded.chars().map(|it| (it, true)));
    Ok(())
}

/// Reads the digits that follow, at most so many.
fn number(rest: &mut Peekable<Chars<'_>>, first: u32, radix: u32, most: usize) -> u32 {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|it| it.to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        rest.next();
    }
    value
}
