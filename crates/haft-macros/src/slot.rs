//! What `#[slot(…)]` says about a parameter.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, GenericArgument, Ident, LitStr, PathArguments, Token, Type};

use crate::problems::{Problems, unknown};

/// What the body does with what a slot names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    WriteTree,
}

impl Access {
    const ALL: [Self; 3] = [Self::Read, Self::Write, Self::WriteTree];

    /// Returns the word for it, which is also the name of the constructor.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::WriteTree => "write_tree",
        }
    }
}

/// A slot: where its path comes from and what the body does with it.
pub(crate) struct Slot {
    pub(crate) name: String,
    /// JSON pointer of the argument.
    pub(crate) argument: String,
    pub(crate) access: Access,
    pub(crate) optional: bool,
    /// The attribute, to show faults at.
    pub(crate) written: TokenStream,
}

impl Slot {
    /// Reads the slot of a parameter of its own.
    pub(crate) fn of_parameter(
        attribute: Attribute,
        argument: &str,
        holds: Paths,
    ) -> syn::Result<Self> {
        let words: Words = attribute.parse_args()?;
        if let Some(pointer) = &words.argument {
            return Err(syn::Error::new_spanned(
                pointer,
                "the parameter is the argument; `argument` is for slots of an `#[args]` type",
            ));
        }
        if argument.contains(['/', '~']) {
            let text = format!(
                "a slot cannot take its path from `{argument}`: `/` and `~` mean something in pointers"
            );
            return Err(syn::Error::new_spanned(attribute, text));
        }
        let pointer = match holds {
            Paths::One => format!("/{argument}"),
            Paths::Many => format!("/{argument}/*"),
        };
        words.slot(argument.to_owned(), pointer, attribute)
    }

    /// Reads a slot of a parameter that is all arguments.
    pub(crate) fn of_arguments(attribute: Attribute) -> syn::Result<Self> {
        let words: Words = attribute.parse_args()?;
        let Some(argument) = words.argument.clone() else {
            return Err(syn::Error::new_spanned(
                attribute,
                "say which field holds the path: `#[slot(read, argument = \"/path\")]`",
            ));
        };
        let pointer = argument.value();
        let parts: Vec<&str> = pointer.split('/').skip(1).collect();
        let well_formed = pointer.starts_with('/') && parts.iter().all(|part| !part.is_empty());
        match parts.iter().rev().find(|part| **part != "*") {
            Some(name) if well_formed => words.slot((*name).to_owned(), pointer.clone(), attribute),
            _ => {
                let text = format!(
                    "`{pointer}` does not point to a field; expected a form like `/path` or `/edits/*/path`"
                );
                Err(syn::Error::new_spanned(argument, text))
            }
        }
    }
}

/// The words of one `#[slot(…)]`, before it is known what they are about.
struct Words {
    access: Access,
    optional: bool,
    name: Option<LitStr>,
    argument: Option<LitStr>,
}

impl Words {
    fn slot(self, name: String, argument: String, written: Attribute) -> syn::Result<Slot> {
        if self.optional && self.access == Access::Write {
            return Err(syn::Error::new_spanned(
                written,
                "what `write` names may always come to be: leave `optional_target` out",
            ));
        }
        let name = self.name.map_or(name, |name| name.value());
        Ok(Slot {
            name,
            argument,
            access: self.access,
            optional: self.optional,
            written: written.into_token_stream(),
        })
    }
}

impl Parse for Words {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let known = ["read", "write", "write_tree", "optional_target", "name", "argument"];
        let mut access: Option<Access> = None;
        let mut optional = false;
        let (mut name, mut argument) = (None, None);
        let whole = input.span();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            let text = word.to_string();
            if text == "argument" {
                input.parse::<Token![=]>()?;
                argument = Some(input.parse()?);
            } else if text == "name" {
                input.parse::<Token![=]>()?;
                name = Some(input.parse()?);
            } else if text == "optional_target" {
                optional = true;
            } else if let Some(found) = Access::ALL.into_iter().find(|it| it.as_str() == text) {
                if let Some(first) = access.replace(found) {
                    let text =
                        format!("a slot is for one use, and this is `{}` already", first.as_str());
                    return Err(syn::Error::new_spanned(word, text));
                }
            } else {
                return Err(syn::Error::new_spanned(word, unknown("word", &text, &known)));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let Some(access) = access else {
            return Err(syn::Error::new(whole, "expected `read`, `write` or `write_tree`"));
        };
        Ok(Self { access, optional, name, argument })
    }
}

/// How many paths a parameter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    One,
    Many,
}

impl Paths {
    /// Returns how many paths a type holds, if it is one that a slot can be filled from.
    pub(crate) fn in_type(ty: &Type) -> Option<Self> {
        let (name, inner) = last_segment(ty)?;
        match (name.as_str(), inner) {
            ("ToolPath", None) => Some(Self::One),
            ("Option", Some(inner)) => match last_segment(inner)? {
                (name, _) if name == "Option" => None,
                _ => Self::in_type(inner),
            },
            ("Vec", Some(inner)) => match last_segment(inner)? {
                (name, None) if name == "ToolPath" => Some(Self::Many),
                _ => None,
            },
            _ => None,
        }
    }

    /// Tells whether a type speaks of paths anywhere.
    pub(crate) fn mentioned_in(tokens: impl ToTokens) -> bool {
        fn search(stream: TokenStream) -> bool {
            stream.into_iter().any(|tree| match tree {
                TokenTree::Ident(ident) => ident == "ToolPath",
                TokenTree::Group(group) => search(group.stream()),
                _ => false,
            })
        }
        search(tokens.to_token_stream())
    }
}

/// Returns the last name of a path type, and the one type in its angle brackets where there is one.
pub(crate) fn last_segment(ty: &Type) -> Option<(String, Option<&Type>)> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => path,
        Type::Group(group) => return last_segment(&group.elem),
        Type::Paren(paren) => return last_segment(&paren.elem),
        _ => return None,
    };
    let last = path.path.segments.last()?;
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(brackets) => match brackets.args.first() {
            Some(GenericArgument::Type(inner)) if brackets.args.len() == 1 => Some(inner),
            _ => None,
        },
        _ => None,
    };
    Some((last.ident.to_string(), inner))
}

/// Refuses two slots of one name: rules and bodies could not tell them apart.
pub(crate) fn check_names(slots: &[&Slot], problems: &mut Problems) {
    for (index, slot) in slots.iter().enumerate() {
        if slots.iter().take(index).any(|earlier| earlier.name == slot.name) {
            problems.add(
                &slot.written,
                format!(
                    "another slot is called `{}` already: give one of them a `name = \"…\"`",
                    slot.name
                ),
            );
        }
    }
}
