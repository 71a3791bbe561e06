//! A tool with everything about it checked.

use haft_protocol::limits::DESCRIPTION_BYTES;
use haft_protocol::{Capabilities, Capability, CapabilityError, QualifiedName};
use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::{ItemFn, Path};

use crate::attribute::{Attribute, Description};
use crate::docs;
use crate::function::Function;
use crate::parameter::Parameter;
use crate::problems::Problems;
use crate::slot::{self, Access, Slot};

/// A tool with everything about it checked.
pub(crate) struct Tool {
    /// What generated paths start at.
    pub(crate) root: Path,
    pub(crate) name: String,
    pub(crate) description: Description,
    /// What is declared, and what follows from slots.
    pub(crate) effects: Vec<Capability>,
    pub(crate) attribute: Attribute,
    pub(crate) function: Function,
}

impl Tool {
    /// Reads and checks a tool.
    ///
    /// # Errors
    ///
    /// Fails with everything that is wrong with it.
    pub(crate) fn read(
        usual_root: Path,
        arguments: TokenStream,
        item: ItemFn,
    ) -> syn::Result<Self> {
        let mut problems = Problems::default();
        let mut attribute = Attribute::parse(arguments, &mut problems);
        let function = Function::take(item, &mut problems);
        let name = problems.take(name_of(&attribute, &function));
        let description = problems.take(description_of(&mut attribute, &function));
        let slots: Vec<&Slot> = function.parameters.iter().flat_map(Parameter::slots).collect();
        slot::check_names(&slots, &mut problems);
        let effects = effects_of(&attribute, &slots, &mut problems);
        let root = attribute.root.clone().unwrap_or(usual_root);
        // What is missing here is among the problems.
        let name = name.unwrap_or_default();
        let description = description.unwrap_or_else(|| Description::Text(String::new()));
        problems.finish(Self { root, name, description, effects, attribute, function })
    }
}

/// Returns the declared name in its full form, or the function's in the usual namespace.
fn name_of(attribute: &Attribute, function: &Function) -> syn::Result<String> {
    let ident = &function.item.sig.ident;
    let name = match &attribute.name {
        Some(name) => QualifiedName::for_user(&name.value())
            .map_err(|error| syn::Error::new_spanned(name, error)),
        None => QualifiedName::for_user(&ident.unraw().to_string()).map_err(|error| {
            let text = format!("{error}; say another with `name = \"…\"`");
            syn::Error::new_spanned(ident, text)
        }),
    };
    name.map(String::from)
}

fn description_of(attribute: &mut Attribute, function: &Function) -> syn::Result<Description> {
    let ident = &function.item.sig.ident;
    let text = match attribute.description.take() {
        Some(file @ Description::File(_)) => return Ok(file),
        Some(Description::Text(text)) => text,
        None => docs::text(&function.item.attrs)?,
    };
    if text.trim().is_empty() {
        return Err(syn::Error::new_spanned(
            ident,
            "a model cannot choose what nothing is said about: add a doc comment that says what the tool does and when to use it",
        ));
    }
    if text.len() > DESCRIPTION_BYTES {
        let text = format!(
            "the description has {} bytes; at most {DESCRIPTION_BYTES} are allowed",
            text.len()
        );
        return Err(syn::Error::new_spanned(ident, text));
    }
    Ok(Description::Text(text))
}

/// Returns what is declared and what follows from slots: a tool that reads what it is bound to reads files.
///
/// That a tool changes something never follows from anything: it has to be said.
fn effects_of(attribute: &Attribute, slots: &[&Slot], problems: &mut Problems) -> Vec<Capability> {
    let reads = attribute.read_only.is_some() || slots.iter().any(|it| it.access == Access::Read);
    let declares =
        |effect: &Capability| attribute.has(*effect) || (reads && *effect == Capability::ReadFiles);
    let effects: Vec<Capability> = Capability::ALL.into_iter().filter(declares).collect();
    if let Err(error) = capabilities(attribute, &effects) {
        contradiction(attribute, error, problems);
    }
    let may_write = attribute.has(Capability::WriteFiles) || attribute.has(Capability::Execute);
    for slot in slots.iter().filter(|it| it.access != Access::Read && !may_write) {
        let access = slot.access.as_str();
        let text = match &attribute.read_only {
            Some(_) => format!("declared read-only, yet also `{access}`: drop one of them"),
            None => format!("`{access}` changes files: declare `capabilities(write_files)`"),
        };
        problems.add(&slot.written, text);
    }
    effects
}

/// Builds the set in the same way as the generated code does, so that it cannot fail there.
fn capabilities(
    attribute: &Attribute,
    effects: &[Capability],
) -> Result<Capabilities, CapabilityError> {
    let mut builder = Capabilities::builder();
    for effect in effects {
        builder = builder.effect(*effect);
    }
    if attribute.read_only.is_some() {
        builder = builder.read_only();
    }
    for effect in &attribute.side_effects {
        builder = builder.side_effect(effect.value());
    }
    builder.build()
}

fn contradiction(attribute: &Attribute, error: CapabilityError, problems: &mut Problems) {
    let declared = match &error {
        CapabilityError::ReadOnlyMutates { capability } => {
            attribute.capabilities.iter().find(|(declared, _)| declared == capability)
        }
        _ => None,
    };
    match (declared, attribute.side_effects.first(), &attribute.read_only) {
        (Some((_, ident)), ..) => problems.add(ident, error),
        (None, Some(effect), _) => problems.add(effect, error),
        (None, None, Some(read_only)) => problems.add(read_only, error),
        // Nothing else can contradict anything.
        (None, None, None) => problems.push(syn::Error::new(proc_macro2::Span::call_site(), error)),
    }
}
