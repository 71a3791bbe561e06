//! The parameters of a function, and what each is for.

use std::mem;

use syn::ext::IdentExt as _;
use syn::{Attribute, FnArg, Ident, LitStr, Pat, PatType, Token, Type};

use crate::problems::Problems;
use crate::slot::{Paths, Slot, last_segment};

/// A parameter, and what it is for.
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) role: Role,
}

/// What a parameter is for.
pub(crate) enum Role {
    /// It is the call.
    Call { by_reference: bool },
    /// It is one argument.
    Argument {
        /// Documentation, serde's and schemars' attributes, for the field that it becomes.
        attributes: Vec<Attribute>,
        slot: Option<Slot>,
    },
    /// It is all arguments.
    Arguments { slots: Vec<Slot> },
}

impl Parameter {
    /// Takes a parameter apart and leaves in the function only what a function may have.
    pub(crate) fn take(input: &mut FnArg, problems: &mut Problems) -> Option<Self> {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                problems
                    .add(receiver, "a tool is a free function: `self` has nothing to stand for");
                return None;
            }
        };
        let mut attributes = Attributes::take(typed, problems);
        let Some(ident) = name_of(&typed.pat) else {
            problems.add(
                &typed.pat,
                "the name of a parameter is what a model reads: a plain name, no pattern",
            );
            return None;
        };
        let ty = (*typed.ty).clone();
        let role = match call_type(&ty, problems) {
            Some(by_reference) => {
                attributes.refuse_on_call(problems);
                Role::Call { by_reference }
            }
            None if refuse_type(&ty, problems) => return None,
            None => match attributes.all.take() {
                Some(_) => Role::Arguments { slots: attributes.slots_of_arguments(problems) },
                None => attributes.argument(&ident, &ty, problems)?,
            },
        };
        Some(Self { ident, ty, role })
    }

    /// Returns the slots that this parameter fills.
    pub(crate) fn slots(&self) -> &[Slot] {
        match &self.role {
            Role::Call { .. } => &[],
            Role::Argument { slot, .. } => slot.as_slice(),
            Role::Arguments { slots } => slots,
        }
    }
}

/// The attributes of one parameter that are not the function's.
struct Attributes {
    /// Documentation, serde's and schemars' attributes.
    field: Vec<Attribute>,
    slots: Vec<Attribute>,
    /// `#[args]`.
    all: Option<Attribute>,
}

impl Attributes {
    fn take(typed: &mut PatType, problems: &mut Problems) -> Self {
        let mut taken = Self { field: Vec::new(), slots: Vec::new(), all: None };
        for attribute in mem::take(&mut typed.attrs) {
            let path = attribute.path();
            if ["doc", "serde", "schemars"].iter().any(|name| path.is_ident(name)) {
                taken.field.push(attribute);
            } else if path.is_ident("slot") {
                taken.slots.push(attribute);
            } else if path.is_ident("args") {
                problems.take(attribute.meta.require_path_only());
                taken.all = Some(attribute);
            } else if path.is_ident("cfg") || path.is_ident("cfg_attr") {
                problems.add(
                    attribute,
                    "a tool has one contract: put the condition on the function and write it twice",
                );
            } else {
                typed.attrs.push(attribute);
            }
        }
        taken
    }

    fn refuse_on_call(&self, problems: &mut Problems) {
        let documentation = |attribute: &&Attribute| attribute.path().is_ident("doc");
        let field = self.field.iter().filter(|it| !documentation(it));
        for attribute in field.chain(&self.slots).chain(&self.all) {
            problems.add(attribute, "the call is no argument: nothing of it is in the contract");
        }
    }

    fn slots_of_arguments(self, problems: &mut Problems) -> Vec<Slot> {
        for attribute in &self.field {
            problems.add(attribute, "with `#[args]` this belongs to the type of the arguments");
        }
        let slots = self.slots.into_iter().map(Slot::of_arguments);
        slots.filter_map(|slot| problems.take(slot)).collect()
    }

    fn argument(mut self, ident: &Ident, ty: &Type, problems: &mut Problems) -> Option<Role> {
        let name = problems.take(name_in_contract(ident, &self.field))?;
        let (slots, paths) = (mem::take(&mut self.slots), Paths::in_type(ty));
        let mut slots = slots.into_iter();
        let slot = match (slots.next(), paths) {
            (Some(attribute), Some(paths)) => {
                problems.take(Slot::of_parameter(attribute, &name, paths))
            }
            (Some(attribute), None) => {
                problems.add(
                    attribute,
                    "a slot is filled from a `ToolPath`, an `Option<ToolPath>` or a `Vec<ToolPath>`",
                );
                None
            }
            (None, Some(_)) => {
                problems.add(
                    ty,
                    "a path is nothing without its use: add `#[slot(read)]`, `#[slot(write)]` or `#[slot(write_tree)]`",
                );
                None
            }
            (None, None) if Paths::mentioned_in(ty) => {
                problems.add(
                    ty,
                    "a slot cannot reach a path in here: use `ToolPath`, `Option<ToolPath>` or `Vec<ToolPath>`",
                );
                None
            }
            (None, None) => None,
        };
        for further in slots {
            problems.add(further, "a parameter fills one slot");
        }
        Some(Role::Argument { attributes: self.field, slot })
    }
}

fn name_of(pattern: &Pat) -> Option<Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            Some(name.ident.clone())
        }
        _ => None,
    }
}

/// Tells whether a type is the call's, and whether by reference.
fn call_type(ty: &Type, problems: &mut Problems) -> Option<bool> {
    let is_call = |ty| matches!(last_segment(ty), Some((name, None)) if name == "Call");
    match ty {
        Type::Reference(reference) if is_call(&reference.elem) => {
            if reference.mutability.is_some() {
                problems
                    .add(ty, "nothing about a call can be changed: `&Call`, or `Call` to own it");
            }
            Some(true)
        }
        ty => is_call(ty).then_some(false),
    }
}

/// Refuses types that arguments cannot be read into.
fn refuse_type(ty: &Type, problems: &mut Problems) -> bool {
    match ty {
        Type::Reference(reference) => {
            let owned = match &*reference.elem {
                Type::Slice(_) => "a `Vec`".to_owned(),
                elem => match last_segment(elem) {
                    Some((name, _)) if name == "str" => "`String`".to_owned(),
                    Some((name, _)) if name == "Path" => "`ToolPath` with a `#[slot]`".to_owned(),
                    Some((name, _)) => format!("`{name}`"),
                    None => "an owned type".to_owned(),
                },
            };
            problems.add(ty, format!("an argument belongs to its body: take {owned}"));
            true
        }
        Type::ImplTrait(_) | Type::Infer(_) => {
            problems.add(ty, "the contract follows from the type: name it");
            true
        }
        _ => false,
    }
}

/// Returns the name an argument has in the contract: serde's, where it was renamed.
fn name_in_contract(ident: &Ident, attributes: &[Attribute]) -> syn::Result<String> {
    let mut name = ident.unraw().to_string();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("flatten") {
                return Err(meta.error(
                    "a closed contract cannot be flattened into: take one type with `#[args]`",
                ));
            }
            if meta.path.is_ident("rename") && meta.input.peek(Token![=]) {
                name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("rename") {
                meta.parse_nested_meta(|inner| {
                    let given = inner.value()?.parse::<LitStr>()?.value();
                    if inner.path.is_ident("deserialize") {
                        name = given;
                    }
                    Ok(())
                })?;
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|inner| {
                    inner.value()?.parse::<syn::Expr>()?;
                    Ok(())
                })?;
            }
            Ok(())
        })?;
    }
    Ok(name)
}
