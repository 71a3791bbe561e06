//! Schemas of tools and of replies, in the dialect of whoever reads them, and the way back for what comes of them.

use std::sync::{Arc, Mutex, PoisonError};

use haft_model::{Finished, Request, ResponseFormat, ToolSpec};
use haft_protocol::{RawArguments, ReplyPart};
use haft_schema::dialect::{Dialect, Inverse, Loss, Lowered, lower_together};
use serde_json::Value;

/// The schemas of a request in a dialect.
#[derive(Debug)]
pub(crate) struct Lowering {
    tools: Arc<[ToolSpec]>,
    of_tools: Vec<Lowered>,
    format: Option<ResponseFormat>,
    of_format: Option<Lowered>,
}

impl Lowering {
    fn new(request: &Request, dialect: Dialect) -> Self {
        let tools = request.tools.iter().map(|it| &*it.schema);
        let format = request.format.iter().map(|it| &*it.schema);
        // Whoever asks for a form wants to have it for sure: it comes first where there is not room for all.
        let strict = dialect.strict().unwrap_or(dialect);
        let (of_format, of_tools) = if strict == dialect {
            let mut all = lower_together(format.chain(tools), dialect).into_iter();
            let of_format = request.format.as_ref().and_then(|_| all.next());
            (of_format, all.collect())
        } else {
            (lower_together(format, strict).pop(), lower_together(tools, dialect))
        };
        let made = Self {
            tools: Arc::clone(&request.tools),
            of_tools,
            format: request.format.clone(),
            of_format,
        };
        for (name, Loss { pointer, what, kind }) in made.losses() {
            tracing::debug!(name, pointer, what, ?kind, dialect = dialect.as_str(), "lowered");
        }
        made
    }

    /// Returns each tool with its schema, in order.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&ToolSpec, &Lowered)> {
        self.tools.iter().zip(&self.of_tools)
    }

    /// Returns the form that the reply has to have.
    pub(crate) fn format(&self) -> Option<(&ResponseFormat, &Lowered)> {
        self.format.as_ref().zip(self.of_format.as_ref())
    }

    /// Returns what the dialect cannot say, each with the name of the tool or form.
    pub(crate) fn losses(&self) -> impl Iterator<Item = (&str, &Loss)> {
        let of_tools = self.tools().map(|(tool, lowered)| (tool.name.as_str(), lowered));
        let of_format = self.format().map(|(format, lowered)| (format.name.as_str(), lowered));
        let all = of_tools.chain(of_format);
        all.flat_map(|(name, lowered)| lowered.losses.iter().map(move |loss| (name, loss)))
    }

    /// Brings the arguments and the text of a reply back into the shapes that were asked for. What cannot be brought back
    /// stays as it came: the contract says what is wrong with it.
    pub(crate) fn restore(&self, finished: &mut Finished) {
        for part in &mut finished.parts {
            let ReplyPart::Call(call) = part else { continue };
            let tool = self.tools.iter().position(|tool| tool.name.as_str() == call.tool);
            let lowered = tool.and_then(|at| self.of_tools.get(at));
            let RawArguments::Text(text) = &call.arguments else { continue };
            if let Some(meant) = lowered.and_then(|it| meant(&it.inverse, text)) {
                call.arguments = RawArguments::Json(meant);
            }
        }
        let Some(lowered) = &self.of_format else { return };
        let texts = finished.parts.iter_mut().filter_map(|part| match part {
            ReplyPart::Text { text, .. } if !text.trim().is_empty() => Some(text),
            _ => None,
        });
        // A form is one text: several are words about it.
        if let [text] = &mut texts.collect::<Vec<_>>()[..]
            && let Some(meant) = meant(&lowered.inverse, text)
        {
            **text = meant.to_string();
        }
    }
}

/// Marks what stands around a schema as strict where that is.
pub(crate) fn marked(mut around: Value, lowered: &Lowered) -> Value {
    if let (true, Value::Object(around)) = (lowered.is_strict, &mut around) {
        around.insert("strict".to_owned(), Value::Bool(true));
    }
    around
}

/// Returns what a text means; nothing where it means what it says.
fn meant(inverse: &Inverse, text: &str) -> Option<Value> {
    if inverse.is_identity() {
        return None;
    }
    let said: Value = serde_json::from_str(text).ok()?;
    inverse.apply(said.clone()).ok().filter(|meant| *meant != said)
}

/// The schemas that were lowered last: they seldom change from one request to the next.
#[derive(Debug, Default)]
pub(crate) struct Lowerings(Mutex<Option<(Dialect, Arc<Lowering>)>>);

impl Lowerings {
    /// Returns the schemas of a request in a dialect.
    pub(crate) fn of(&self, request: &Request, dialect: Dialect) -> Arc<Lowering> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, lowering)) = last.as_ref()
            && *of == dialect
            && Arc::ptr_eq(&lowering.tools, &request.tools)
            && lowering.format == request.format
        {
            return Arc::clone(lowering);
        }
        let lowering = Arc::new(Lowering::new(request, dialect));
        *last = Some((dialect, Arc::clone(&lowering)));
        lowering
    }
}
