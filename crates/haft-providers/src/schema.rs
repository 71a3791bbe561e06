//! The schemas of tools, in the dialect of whoever reads them, and the way back for arguments.

use std::sync::{Arc, Mutex, PoisonError};

use haft_model::{Finished, ToolSpec};
use haft_protocol::{RawArguments, ReplyPart};
use haft_schema::dialect::{Dialect, Inverse, lower};
use serde_json::Value;

/// The tools of a request with their schemas in a dialect.
#[derive(Debug)]
pub(crate) struct Lowering {
    tools: Arc<[ToolSpec]>,
    schemas: Vec<Value>,
    inverses: Vec<Inverse>,
}

impl Lowering {
    fn new(tools: &Arc<[ToolSpec]>, dialect: Dialect) -> Self {
        let lowered = tools.iter().map(|tool| lower(&tool.schema, dialect));
        let (schemas, inverses) = lowered.map(|it| (it.schema, it.inverse)).unzip();
        Self { tools: Arc::clone(tools), schemas, inverses }
    }

    /// Returns each tool with its schema, in order.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&ToolSpec, &Value)> {
        self.tools.iter().zip(&self.schemas)
    }

    /// Brings the arguments of a reply back into the shapes that the tools have. What cannot be brought back stays as it
    /// came: the tool's contract says what is wrong with it.
    pub(crate) fn restore(&self, finished: &mut Finished) {
        for part in &mut finished.parts {
            let ReplyPart::Call(call) = part else { continue };
            let tool = self.tools.iter().position(|tool| tool.name.as_str() == call.tool);
            let inverse = tool.and_then(|at| self.inverses.get(at));
            let RawArguments::Text(text) = &call.arguments else { continue };
            let (Some(inverse), Ok(said)) = (inverse, serde_json::from_str::<Value>(text)) else {
                continue;
            };
            match inverse.apply(said.clone()) {
                Ok(meant) if meant != said => call.arguments = RawArguments::Json(meant),
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// The tools that were lowered last: they seldom change from one request to the next.
#[derive(Debug, Default)]
pub(crate) struct Lowerings(Mutex<Option<(Dialect, Arc<Lowering>)>>);

impl Lowerings {
    /// Returns tools in a dialect.
    pub(crate) fn of(&self, tools: &Arc<[ToolSpec]>, dialect: Dialect) -> Arc<Lowering> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, lowering)) = last.as_ref()
            && *of == dialect
            && Arc::ptr_eq(&lowering.tools, tools)
        {
            return Arc::clone(lowering);
        }
        let lowering = Arc::new(Lowering::new(tools, dialect));
        *last = Some((dialect, Arc::clone(&lowering)));
        lowering
    }
}
