//! From a function to a tool.

use haft_protocol::Capability;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, ItemFn, LitStr, Path, ReturnType};

use crate::attribute::Description;
use crate::function::Function;
use crate::parameter::{Parameter, Role};
use crate::problems::Problems;
use crate::slot::Slot;
use crate::tool::Tool;

/// Expands the attribute. A function that cannot be a tool stays a function, beside what is wrong with it.
pub(crate) fn tool(usual_root: Path, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let text = format!("`#[tool]` goes on an `async fn`: {error}");
            let error = syn::Error::new(error.span(), text).into_compile_error();
            return quote!(#error #item);
        }
    };
    match Tool::read(usual_root, arguments, function.clone()) {
        Ok(tool) => implementation(&tool),
        Err(error) => {
            let error = error.into_compile_error();
            let Function { item, .. } = Function::take(function, &mut Problems::default());
            quote!(#error #item)
        }
    }
}

fn implementation(tool: &Tool) -> TokenStream {
    let Tool { root, function, .. } = tool;
    let ItemFn { vis, sig, attrs, .. } = &function.item;
    let (item, ident) = (&function.item, &sig.ident);
    let conditions: Vec<&Attribute> =
        attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let summary = format!("The tool `{}`, made of the function of the same name.", tool.name);
    let facts = facts(tool);
    let run = run(tool);
    let (args, args_type) = arguments(tool);
    let output = output(root, &sig.output);
    quote! {
        #[allow(clippy::unused_async)]
        #item

        #(#conditions)*
        #[doc = #summary]
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #vis struct #ident {}

        #(#conditions)*
        impl #ident {
            /// Makes the tool, ready for a registry.
            ///
            /// # Errors
            ///
            /// Fails when the types' schemas cannot be contracts or the facts contradict them.
            #vis fn tool() -> ::core::result::Result<
                ::std::sync::Arc<dyn #root::Tool>,
                #root::DescriptorError,
            > {
                #root::TypedTool::erase(Self {})
            }
        }

        #(#conditions)*
        const _: () = {
            #args

            impl #root::TypedTool for #ident {
                type Args = #args_type;
                type Output = #output;

                #facts
                #run
            }
        };
    }
}

/// Returns the type that a model's arguments are read into, if it has to be made, and its name.
fn arguments(tool: &Tool) -> (TokenStream, TokenStream) {
    let Tool { root, function, .. } = tool;
    let all = function.parameters.iter().find(|it| matches!(it.role, Role::Arguments { .. }));
    if let Some(Parameter { ty, .. }) = all {
        return (TokenStream::new(), quote!(#ty));
    }
    let fields = function.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Argument { attributes, .. } => {
            let Parameter { ident, ty, .. } = parameter;
            Some(quote!(#(#attributes)* #ident: #ty))
        }
        Role::Call { .. } | Role::Arguments { .. } => None,
    });
    let (serde, schemars) = (inside(root, "serde"), inside(root, "schemars"));
    let (serde_text, schemars_text) = (path_text(&serde), path_text(&schemars));
    // The name is one that no type of the surrounding code has, since the fields' types are looked up past it.
    let made = quote! {
        #[derive(#serde::Deserialize, #schemars::JsonSchema)]
        #[serde(crate = #serde_text, deny_unknown_fields)]
        #[schemars(crate = #schemars_text)]
        pub struct __ToolArgs {
            #(#fields,)*
        }
    };
    (made, quote!(__ToolArgs))
}

fn facts(tool: &Tool) -> TokenStream {
    let Tool { root, name, attribute, .. } = tool;
    let description = match &tool.description {
        Description::Text(text) => quote!(::std::string::String::from(#text)),
        Description::File(file) => quote! {
            ::std::string::String::from(::core::include_str!(#file).trim())
        },
    };
    let capabilities = capabilities(tool);
    let slots = tool.function.parameters.iter().flat_map(Parameter::slots);
    let slots = slots.map(|it| slot(root, it));
    let none = || quote!(::core::option::Option::None);
    let some = |milliseconds: u64| quote!(::core::option::Option::Some(#milliseconds));
    let run_ms = attribute.run_ms.map_or_else(none, some);
    let composite = attribute.composite;
    quote! {
        fn facts(&self) -> ::core::result::Result<#root::Facts, #root::DescriptorError> {
            ::core::result::Result::Ok(#root::Facts {
                name: #root::__private::QualifiedName::for_user(#name)?,
                title: ::core::option::Option::None,
                description: #description,
                capabilities: #capabilities,
                slots: ::std::vec![#(#slots),*],
                commands: ::std::vec![],
                run_ms: #run_ms,
                composite: #composite,
            })
        }
    }
}

fn capabilities(tool: &Tool) -> TokenStream {
    let Tool { root, attribute, .. } = tool;
    let effects = tool.effects.iter().map(|effect| {
        let variant = Ident::new(variant_of(*effect), Span::call_site());
        quote!(.effect(#root::__private::Capability::#variant))
    });
    let read_only = attribute.read_only.as_ref().map(|_| quote!(.read_only()));
    let idempotent = attribute.idempotent.then(|| quote!(.idempotent()));
    let always_ask = attribute.always_ask.then(|| quote!(.always_ask()));
    let side_effects = &attribute.side_effects;
    quote! {
        #root::__private::Capabilities::builder()
            #(#effects)*
            #read_only
            #idempotent
            #(.side_effect(#side_effects))*
            #always_ask
            .build()?
    }
}

const fn variant_of(capability: Capability) -> &'static str {
    match capability {
        Capability::ReadFiles => "ReadFiles",
        Capability::WriteFiles => "WriteFiles",
        Capability::Execute => "Execute",
        Capability::Network => "Network",
        Capability::External => "External",
        Capability::Session => "Session",
    }
}

fn slot(root: &Path, slot: &Slot) -> TokenStream {
    let Slot { name, argument, .. } = slot;
    let access = Ident::new(slot.access.as_str(), Span::call_site());
    let made = quote!(#root::Slot::#access(#name));
    let made =
        if *argument == format!("/{name}") { made } else { quote!(#made.from_argument(#argument)) };
    if slot.optional {
        quote!(#root::Slot { existence: #root::Existence::Optional, ..#made })
    } else {
        made
    }
}

fn run(tool: &Tool) -> TokenStream {
    let Tool { root, function, .. } = tool;
    let ItemFn { sig, .. } = &function.item;
    let ident = &sig.ident;
    // No local of a parameter's name: it could stand before the function, and these two are the macro's own.
    let call = Ident::new("call", Span::mixed_site());
    let args = Ident::new("args", Span::mixed_site());
    let given = function.parameters.iter().map(|parameter| match &parameter.role {
        Role::Call { by_reference: true } => quote!(&#call),
        Role::Call { by_reference: false } => quote!(#call),
        Role::Arguments { .. } => quote!(#args),
        Role::Argument { .. } => {
            let field = &parameter.ident;
            quote!(#args.#field)
        }
    });
    let takes_call = function.parameters.iter().any(|it| matches!(it.role, Role::Call { .. }));
    let call_parameter = if takes_call { quote!(#call) } else { quote!(_) };
    quote! {
        async fn run(
            &self,
            #call_parameter: #root::Call,
            #args: Self::Args,
        ) -> ::core::result::Result<Self::Output, #root::__private::Failure> {
            ::core::result::Result::Ok(#root::__private::Ended(#ident(#(#given),*).await))
        }
    }
}

/// Returns the type of the output; that the function returns something else is shown where it says what.
fn output(root: &Path, written: &ReturnType) -> TokenStream {
    let (ty, place) = match written {
        ReturnType::Default => (quote!(()), Span::call_site()),
        ReturnType::Type(_, ty) => (quote!(#ty), ty.span()),
    };
    // The place is the type's, the tokens are not: lints about written code leave them alone.
    let place = Span::call_site().located_at(place);
    let root = quote!(#root).into_iter().map(|mut token| {
        token.set_span(place);
        token
    });
    let root: TokenStream = root.collect();
    quote_spanned!(place=> #root::__private::Ended<#ty>)
}

fn inside(root: &Path, library: &str) -> TokenStream {
    let library = Ident::new(library, Span::call_site());
    quote!(#root::__private::#library)
}

/// Writes a path as attributes want it.
fn path_text(path: &TokenStream) -> LitStr {
    let text = path.to_string().replace(' ', "");
    LitStr::new(&text, Span::call_site())
}

#[cfg(test)]
mod tests;
