//! What stands between the parentheses of `#[tool(…)]`.

use haft_protocol::Capability;
use proc_macro2::TokenStream;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Token};

use crate::problems::{Problems, unknown};

const KEYS: &[&str] = &[
    "name",
    "description",
    "description_file",
    "read_only",
    "capabilities",
    "idempotent",
    "always_ask",
    "side_effect",
    "run_ms",
    "composite",
    "crate",
];

/// What stands between the parentheses of `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Description>,
    pub(crate) read_only: Option<Path>,
    pub(crate) capabilities: Vec<(Capability, Ident)>,
    pub(crate) idempotent: bool,
    pub(crate) always_ask: bool,
    pub(crate) side_effects: Vec<LitStr>,
    pub(crate) run_ms: Option<u64>,
    pub(crate) composite: bool,
    /// The crate that generated paths start at, where it is not the usual one.
    pub(crate) root: Option<Path>,
}

/// What a model reads about the tool.
pub(crate) enum Description {
    Text(String),
    /// A file beside the one the function stands in.
    File(LitStr),
}

impl Attribute {
    /// Reads the arguments, as far as they are right; the rest goes to `problems`.
    pub(crate) fn parse(arguments: TokenStream, problems: &mut Problems) -> Self {
        let mut attribute = Self::default();
        let list = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(arguments);
        let mut seen: Vec<String> = Vec::new();
        for meta in problems.take(list).unwrap_or_default() {
            let key = key_of(meta.path());
            // Side effects add up, so that each has a text of its own.
            if seen.contains(&key) && key != "side_effect" {
                problems.add(meta.path(), format!("`{key}` stands here twice"));
                continue;
            }
            let step = attribute.take(&key, &meta, problems);
            problems.take(step);
            seen.push(key);
        }
        attribute
    }

    fn take(&mut self, key: &str, meta: &Meta, problems: &mut Problems) -> syn::Result<()> {
        match key {
            "name" => self.name = Some(text(meta)?),
            "description" => self.describe(meta, Description::Text(text(meta)?.value()))?,
            "description_file" => self.describe(meta, Description::File(text(meta)?))?,
            "read_only" => self.read_only = Some(flag(meta)?),
            "capabilities" => self.capabilities = capabilities(meta, problems)?,
            "idempotent" => {
                flag(meta)?;
                self.idempotent = true;
            }
            "always_ask" => {
                flag(meta)?;
                self.always_ask = true;
            }
            "side_effect" => self.side_effects.push(text(meta)?),
            "run_ms" => self.run_ms = Some(milliseconds(meta)?),
            "composite" => {
                flag(meta)?;
                self.composite = true;
            }
            "crate" => self.root = Some(root(meta)?),
            other => {
                return Err(syn::Error::new_spanned(meta.path(), unknown("key", other, KEYS)));
            }
        }
        Ok(())
    }

    fn describe(&mut self, meta: &Meta, description: Description) -> syn::Result<()> {
        if self.description.is_some() {
            return Err(syn::Error::new_spanned(
                meta,
                "`description` and `description_file` exclude each other",
            ));
        }
        self.description = Some(description);
        Ok(())
    }

    /// Tells whether a capability is declared by name.
    pub(crate) fn has(&self, capability: Capability) -> bool {
        self.capabilities.iter().any(|(declared, _)| *declared == capability)
    }
}

fn key_of(path: &Path) -> String {
    let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
    parts.join("::")
}

fn text(meta: &Meta) -> syn::Result<LitStr> {
    if let Meta::NameValue(pair) = meta
        && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value
    {
        return Ok(text.clone());
    }
    let key = key_of(meta.path());
    Err(syn::Error::new_spanned(meta, format!("expected a text: `{key} = \"…\"`")))
}

fn root(meta: &Meta) -> syn::Result<Path> {
    let text = text(meta)?;
    text.parse_with(Path::parse_mod_style).map_err(|_| {
        let fault = format!("`{}` is not a path such as `haft::tool_api`", text.value());
        syn::Error::new_spanned(text, fault)
    })
}

fn flag(meta: &Meta) -> syn::Result<Path> {
    if let Meta::Path(path) = meta {
        return Ok(path.clone());
    }
    let key = key_of(meta.path());
    Err(syn::Error::new_spanned(meta, format!("`{key}` stands alone: it is declared or left out")))
}

fn milliseconds(meta: &Meta) -> syn::Result<u64> {
    let expected =
        || syn::Error::new_spanned(meta, "expected milliseconds, at least 1: `run_ms = 5_000`");
    let Meta::NameValue(pair) = meta else { return Err(expected()) };
    let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = &pair.value else {
        return Err(expected());
    };
    match number.base10_parse() {
        Ok(0) => Err(expected()),
        parsed => parsed,
    }
}

fn capabilities(meta: &Meta, problems: &mut Problems) -> syn::Result<Vec<(Capability, Ident)>> {
    let names = Capability::ALL.map(Capability::as_str);
    let Meta::List(list) = meta else {
        let text = format!("expected a list: `capabilities({})`", names.join(", "));
        return Err(syn::Error::new_spanned(meta, text));
    };
    let mut declared: Vec<(Capability, Ident)> = Vec::new();
    for ident in list.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)? {
        let name = ident.to_string();
        match Capability::ALL.into_iter().find(|capability| capability.as_str() == name) {
            None => problems.add(&ident, unknown("capability", &name, &names)),
            Some(capability) if declared.iter().any(|(known, _)| *known == capability) => {
                problems.add(&ident, format!("`{name}` stands here twice"));
            }
            Some(capability) => declared.push((capability, ident)),
        }
    }
    Ok(declared)
}
