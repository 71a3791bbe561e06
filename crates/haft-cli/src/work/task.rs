//! What a person gives a model: a text, images.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use haft::text::{ImageKind, image_info};
use haft::workspace::{Protected, Protection};
use haft::{ContentPart, ImageType, limits};

use crate::assemble::{UserMistake, config_of_workspace};
use crate::command::Invocation;
use crate::files;

/// Bytes of a task. What is longer belongs into a file that a tool reads in parts.
const TASK_BYTES: u64 = 1024 * 1024;

/// What can be done where the file of a task cannot be read.
const WAYS: &str = "`@FILE` is a file that holds the task; a file or directory that the task is about is named in its text";

/// Reads a task: a text as it was typed, `@FILE`, or `-` for standard input.
pub(crate) fn read(invocation: &Invocation<'_>, typed: &str) -> anyhow::Result<String> {
    let (text, from) = match typed.strip_prefix('@') {
        _ if typed == "-" => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .take(TASK_BYTES + 1)
                .read_to_end(&mut bytes)
                .context("standard input cannot be read")?;
            (whole(bytes, "standard input")?, "standard input".to_owned())
        }
        Some(path) if !path.is_empty() => {
            let bytes = given(invocation, path.as_ref(), TASK_BYTES)
                .map_err(|mistake| mistake.hint(WAYS))?;
            let from = format!("`{path}`");
            (whole(bytes, &from)?, from)
        }
        _ => (typed.to_owned(), "the task".to_owned()),
    };
    if text.trim().is_empty() {
        return Err(UserMistake::new(format!("{from} is empty: say what is to be done")).into());
    }
    Ok(text)
}

/// Reads an image that a model is shown.
pub(crate) fn image(invocation: &Invocation<'_>, path: &Path) -> anyhow::Result<ContentPart> {
    let bytes = given(invocation, path, limits::IMAGE_BYTES)?;
    let shown = path.display();
    if bytes.len() as u64 > limits::IMAGE_BYTES {
        let text = format!("`{shown}` has more than {} bytes", limits::IMAGE_BYTES);
        return Err(UserMistake::new(text).hint("make a smaller copy of it").into());
    }
    let info = image_info(&bytes)
        .map_err(|fault| UserMistake::new(format!("`{shown}` cannot be shown: {fault}")))?;
    if info.width.max(info.height) > limits::IMAGE_SIDE_PIXELS {
        let text = format!("`{shown}` has more than {} pixels a side", limits::IMAGE_SIDE_PIXELS);
        return Err(UserMistake::new(text).hint("make a smaller copy of it").into());
    }
    let media_type = match info.kind {
        ImageKind::Png => ImageType::Png,
        ImageKind::Jpeg => ImageType::Jpeg,
        ImageKind::Gif => ImageType::Gif,
        ImageKind::Webp => ImageType::Webp,
    };
    Ok(ContentPart::Image { media_type, data: Arc::from(bytes) })
}

/// Reads a file whose contents go to a model, so that what tools must not read is not read here either.
fn given(invocation: &Invocation<'_>, path: &Path, most: u64) -> Result<Vec<u8>, UserMistake> {
    if let Some(protected) = protected(invocation, path)? {
        return Err(UserMistake::new(format!("{protected}, so it is not given to a model"))
            .hint("`protection.except` of your configuration says which names are not protected"));
    }
    files::read_given(path, most)
        .map_err(|error| UserMistake::new(format!("`{}` cannot be read: {error}", path.display())))
}

/// Looks a path up in the list that holds for tools, by the name that was typed and by where it leads.
fn protected(invocation: &Invocation<'_>, path: &Path) -> Result<Option<Protected>, UserMistake> {
    let mistake = |error: anyhow::Error| {
        error.downcast().unwrap_or_else(|error| UserMistake::new(format!("{error:#}")))
    };
    let config = config_of_workspace(invocation).map_err(mistake)?;
    let list = Protection::extended(&config.protection.extra, &config.protection.except)
        .map_err(|error| UserMistake::new(error.to_string()))?;
    let roots = invocation.roots().map_err(mistake)?;
    let here = invocation.environment.current_dir.clone().unwrap_or_default();
    let typed = here.join(path);
    let real = files::real_path(&typed).ok();
    Ok([Some(typed), real].into_iter().flatten().find_map(|path| {
        // The list is about paths from a root, where a path lies in one.
        let mut real_roots = roots.iter().filter_map(|it| files::real_path(&it.path).ok());
        let within = real_roots.find_map(|root| path.strip_prefix(root).ok());
        list.of_path(within.unwrap_or(&path))
    }))
}

fn whole(bytes: Vec<u8>, from: &str) -> Result<String, UserMistake> {
    if bytes.len() as u64 > TASK_BYTES {
        let text = format!("{from} has more than {TASK_BYTES} bytes, the most a task may have");
        return Err(UserMistake::new(text)
            .hint("put it into a file of the project, and name the file in a short task"));
    }
    String::from_utf8(bytes).map_err(|_| UserMistake::new(format!("{from} is not UTF-8 text")))
}
