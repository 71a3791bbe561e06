//! The function under the attribute.

use syn::{ItemFn, ReturnType, Type};

use crate::parameter::{Parameter, Role};
use crate::problems::Problems;

/// The function under the attribute, and what its parameters are for.
pub(crate) struct Function {
    /// The function without the attributes that only the tool attribute knows.
    pub(crate) item: ItemFn,
    pub(crate) parameters: Vec<Parameter>,
}

impl Function {
    /// Takes a function apart; what cannot be a tool goes to `problems`.
    pub(crate) fn take(mut item: ItemFn, problems: &mut Problems) -> Self {
        check_signature(&item, problems);
        let inputs = item.sig.inputs.iter_mut();
        let parameters: Vec<Parameter> =
            inputs.filter_map(|input| Parameter::take(input, problems)).collect();
        check_roles(&parameters, problems);
        Self { item, parameters }
    }
}

fn check_signature(item: &ItemFn, problems: &mut Problems) {
    let signature = &item.sig;
    if signature.asyncness.is_none() {
        problems.add(signature.fn_token, "a tool is an `async fn`: add `async` before `fn`");
    }
    if let Some(constness) = &signature.constness {
        problems.add(constness, "a tool cannot be `const`");
    }
    if let Some(unsafety) = &signature.unsafety {
        problems.add(unsafety, "a tool cannot be `unsafe`: nobody could uphold its conditions");
    }
    if let Some(abi) = &signature.abi {
        problems.add(abi, "a tool cannot be `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        problems.add(variadic, "a tool cannot be variadic: take a `Vec`");
    }
    if !signature.generics.params.is_empty() {
        problems.add(
            &signature.generics,
            "a tool has one contract: a generic function would have many",
        );
    }
    if let Some(clause) = &signature.generics.where_clause {
        problems.add(clause, "a tool has one contract: there is nothing to constrain");
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && let Type::ImplTrait(_) = &**ty
    {
        problems.add(ty, "the contract of the output follows from the type: name it");
    }
}

fn check_roles(parameters: &[Parameter], problems: &mut Problems) {
    let calls = parameters.iter().filter(|it| matches!(it.role, Role::Call { .. }));
    for further in calls.skip(1) {
        problems.add(&further.ty, "a body has one call, and it is taken already");
    }
    let mut all = parameters.iter().filter(|it| matches!(it.role, Role::Arguments { .. }));
    if all.next().is_none() {
        return;
    }
    for further in all {
        problems.add(&further.ident, "only one parameter can be all arguments");
    }
    for single in parameters.iter().filter(|it| matches!(it.role, Role::Argument { .. })) {
        let text = format!(
            "another parameter is all arguments already: make `{}` a field of its type",
            single.ident
        );
        problems.add(&single.ident, text);
    }
}
