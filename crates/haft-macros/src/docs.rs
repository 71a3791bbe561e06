//! Doc comments as text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the text of the doc comments among some attributes, whole, without the indentation all lines share.
///
/// # Errors
///
/// Fails for documentation that a macro makes: its text is not known here.
pub(crate) fn text(attributes: &[Attribute]) -> syn::Result<String> {
    let mut lines: Vec<String> = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(documentation) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &documentation.value else {
            return Err(syn::Error::new_spanned(
                &documentation.value,
                "this text is not known to `#[tool]`: say `description_file = \"…\"` in its arguments",
            ));
        };
        lines.extend(undecorated(&text.value()));
    }
    let indentation = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let written = lines.iter().filter(|line| !line.trim().is_empty());
    let shared = written.map(|line| indentation(line)).min().unwrap_or(0);
    let lines: Vec<&str> =
        lines.iter().map(|line| line.get(shared..).unwrap_or_default().trim_end()).collect();
    Ok(lines.join("\n").trim_matches('\n').to_owned())
}

/// Cuts one comment into lines; those of a block comment lose the stars along their left side.
fn undecorated(comment: &str) -> Vec<String> {
    // An empty comment is an empty line.
    let lines: Vec<&str> = comment.split('\n').collect();
    let mut further = lines.iter().skip(1).filter(|line| !line.trim().is_empty()).peekable();
    let starred = further.peek().is_some() && further.all(|line| line.trim().starts_with('*'));
    lines
        .iter()
        .enumerate()
        .map(|(index, line)| match line.trim_start().strip_prefix('*') {
            Some(rest) if starred && index > 0 => rest.to_owned(),
            _ => (*line).to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(item: &str, expected: &str) {
        let item: syn::ItemFn = syn::parse_str(item).unwrap();
        assert_eq!(text(&item.attrs).unwrap(), expected);
    }

    #[test]
    fn a_comment_keeps_all_its_lines_and_their_indentation() {
        check(
            "/// Finds text.\n///\n/// - one\n///   more\n///\n#[doc(hidden)] fn f() {}",
            "Finds text.\n\n- one\n  more",
        );
    }

    #[test]
    fn a_block_comment_loses_its_stars() {
        check("/**\n * Finds text.\n *\n * * a list\n */\nfn f() {}", "Finds text.\n\n* a list");
        check("/** Finds text. */ fn f() {}", "Finds text.");
        check("/** One.\n    Two. */ fn f() {}", "One.\n   Two.");
    }

    #[test]
    fn an_attribute_is_a_comment_too() {
        check("#[doc = \"Finds text.\"] fn f() {}", "Finds text.");
        check("fn f() {}", "");
    }

    #[test]
    fn documentation_made_by_a_macro_is_refused() {
        let item: syn::ItemFn =
            syn::parse_str("#[doc = include_str!(\"x.md\")] fn f() {}").unwrap();
        assert!(text(&item.attrs).unwrap_err().to_string().contains("description_file"));
    }
}
