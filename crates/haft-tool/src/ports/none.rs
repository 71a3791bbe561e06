//! Deliberate nothings, each with a name.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use haft_policy::PathFilter;
use haft_protocol::{
    ArtifactId, BindingRecord, CallId, Change, ChangedCalls, ContentRef, Control, Denial, Digest,
    Digester, EffectRecord, LogicalPath, Notice, Timestamp,
};

use super::{
    Answer, Approver, Artifacts, BindRefusal, Binder, Bound, Capture, Checkpoints, Effects, Entry,
    Exclusion, Held, Journal, KeptArtifact, NewArtifact, Port, PortError, Question, SlotValue,
};
use crate::Extensions;
use crate::locks::Claim;
use crate::tool::BoxFuture;

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

macro_rules! nothings {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $name;

        impl Port for $name {
            fn describe(&self) -> String {
                $text.to_owned()
            }

            fn is_none(&self) -> bool {
                true
            }
        }
    )*};
}

nothings! {
    /// Keeps no record of any call.
    NoJournal = "none: calls are not recorded";
    /// Binds nothing: a tool with a slot is denied.
    NoBinder = "none: no workspace, tools that take paths are denied";
    /// Saves nothing before a call.
    NoCheckpoints = "none: nothing is saved before a call";
    /// Looks for no changes beyond those a body reports.
    NoCapture = "none: only changes that a tool reports are known";
    /// Keeps nothing that effects take away: they cannot be taken back, and the changes say so.
    NoEffects = "none: what is changed cannot be taken back";
    /// Keeps no artifacts: what is too much for an outcome is lost, and the outcome says so.
    NoArtifacts = "none: what exceeds an outcome's bounds is not kept";
    /// Asks nobody: what needs an answer is denied.
    NoApprover = "none: calls that need a person's answer are denied";
    /// Does not keep other processes out.
    NoExclusion = "none: other processes are not kept out";
}

impl Journal for NoJournal {
    fn append<'a>(&'a self, _: Entry<'a>) -> BoxFuture<'a, Result<(), PortError>> {
        ready(Ok(()))
    }
}

struct NothingBound;

impl Bound for NothingBound {
    fn records(&self) -> &[BindingRecord] {
        &[]
    }

    fn claims(&self) -> &[Claim] {
        &[]
    }

    fn settle<'a>(&'a self, _: &'a PathFilter) -> BoxFuture<'a, Result<(), BindRefusal>> {
        ready(Ok(()))
    }

    fn is_current(&self) -> BoxFuture<'_, bool> {
        ready(true)
    }

    fn install(&self, _: CallId, _: PathFilter, _: &mut Extensions) {}

    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
}

impl Binder for NoBinder {
    fn bind(&self, values: Vec<SlotValue>) -> BoxFuture<'_, Result<Arc<dyn Bound>, BindRefusal>> {
        ready(match values.first() {
            None => Ok(Arc::new(NothingBound)),
            Some(value) => Err(BindRefusal::Denied(Denial::new(
                Control::Workspace,
                format!("`{}` names a path, and there is no workspace to look in", value.argument),
            ))),
        })
    }
}

impl Checkpoints for NoCheckpoints {
    fn save<'a>(&'a self, _: CallId, _: &'a dyn Bound) -> BoxFuture<'a, Result<(), PortError>> {
        ready(Ok(()))
    }
}

impl Capture for NoCapture {
    fn changes<'a>(
        &'a self,
        _: CallId,
        _: &'a dyn Bound,
    ) -> BoxFuture<'a, Result<Vec<Change>, PortError>> {
        ready(Ok(Vec::new()))
    }
}

impl Effects for NoEffects {
    fn keep(&self, content: &mut dyn Read) -> Result<ContentRef, PortError> {
        let mut digester = Digester::default();
        let mut piece = vec![0; 64 * 1024];
        loop {
            let count = content
                .read(&mut piece)
                .map_err(|error| PortError::with_source("the content cannot be read", error))?;
            let Some(read) = piece.get(..count).filter(|read| !read.is_empty()) else { break };
            digester.update(read);
        }
        let (digest, bytes) = digester.finish();
        Ok(ContentRef { digest, bytes, stored: false })
    }

    fn fetch(&self, _: Digest) -> Result<Option<Arc<[u8]>>, PortError> {
        Ok(None)
    }

    fn announce(&self, _: &[EffectRecord]) -> Result<(), PortError> {
        Ok(())
    }

    fn settle(&self, _: &EffectRecord) -> Result<(), PortError> {
        Ok(())
    }

    fn of_call(&self, _: CallId) -> Result<Vec<EffectRecord>, PortError> {
        Ok(Vec::new())
    }

    fn made_again(&self, _: &str, _: Timestamp) -> Result<Option<Timestamp>, PortError> {
        Ok(None)
    }

    fn changed_calls(&self, _: &[String], _: u32) -> Result<ChangedCalls, PortError> {
        Ok(ChangedCalls::default())
    }

    fn cut_short(&self) -> Result<Vec<EffectRecord>, PortError> {
        Ok(Vec::new())
    }

    fn touched(&self, _: &str) -> Result<BTreeSet<LogicalPath>, PortError> {
        Ok(BTreeSet::new())
    }
}

impl Artifacts for NoArtifacts {
    fn keep(&self, _: NewArtifact) -> BoxFuture<'_, Result<ArtifactId, PortError>> {
        ready(Err(PortError::new("no store for artifacts is configured")))
    }

    fn fetch(&self, _: ArtifactId) -> BoxFuture<'_, Result<Option<KeptArtifact>, PortError>> {
        ready(Ok(None))
    }
}

impl Approver for NoApprover {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        ready(Answer::Nobody { ways_out: Vec::new() })
    }
}

impl Exclusion for NoExclusion {
    fn hold<'a>(&'a self, _: &'a [Claim]) -> BoxFuture<'a, Result<Held, PortError>> {
        ready(Ok(Box::new(())))
    }
}
