//! What every source of tools has to pass.

use std::collections::HashSet;
use std::sync::Arc;

use haft_tool::{BuildContext, OnConflict, Registry, RegistryError, Scope, ToolSource};

/// Checks what must hold for any source of tools.
///
/// Discovering starts nothing and names what building makes; building twice makes tools with the same facts; names are
/// unique; waking and putting to sleep can be repeated; and a registry with the source can be cloned exactly when its
/// scope says so.
///
/// # Panics
///
/// Panics naming the first thing that does not hold.
pub async fn source_conforms(source: Arc<dyn ToolSource>, context: BuildContext) {
    let name = source.name().to_owned();
    let facts = |source: &dyn ToolSource| -> Vec<_> {
        let tools =
            source.build(&context).unwrap_or_else(|error| panic!("{name}: cannot build: {error}"));
        tools
            .iter()
            .map(|tool| (tool.descriptor().name().clone(), tool.descriptor().fingerprint()))
            .collect()
    };
    let discovered: Vec<_> = source
        .discover(&context)
        .unwrap_or_else(|error| panic!("{name}: cannot discover: {error}"))
        .iter()
        .map(|descriptor| (descriptor.name().clone(), descriptor.fingerprint()))
        .collect();
    let built = facts(&*source);
    assert_eq!(discovered, built, "{name}: discovers something else than it builds");
    if source.scope() != Scope::SingleUse {
        assert_eq!(built, facts(&*source), "{name}: builds something else the second time");
    }
    let names: HashSet<_> = built.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), built.len(), "{name}: two of its tools share a name");

    for _ in 0..2 {
        source
            .activate()
            .await
            .unwrap_or_else(|failure| panic!("{name}: cannot wake up: {failure}"));
    }
    for _ in 0..2 {
        source.deactivate().await;
    }
    source
        .activate()
        .await
        .unwrap_or_else(|failure| panic!("{name}: cannot wake up again: {failure}"));

    let registry = Registry::new(context.clone());
    registry.register(Arc::clone(&source), OnConflict::Reject).unwrap();
    assert!(
        matches!(
            registry.register(Arc::clone(&source), OnConflict::Reject),
            Err(RegistryError::Taken { .. })
        ) || built.is_empty(),
        "{name}: was registered twice over itself"
    );
    match registry.clone_for(BuildContext::default()) {
        Err(RegistryError::NotCloneable { names }) => {
            assert_eq!(
                source.scope(),
                Scope::SingleUse,
                "{name}: cannot be cloned, yet is not for single use"
            );
            assert_eq!(names.len(), built.len(), "{name}: the refusal does not name every tool");
        }
        Ok(clone) => {
            assert!(
                source.scope() != Scope::SingleUse || built.is_empty(),
                "{name}: is for single use, yet was cloned"
            );
            assert_eq!(clone.snapshot().tools().len(), built.len(), "{name}: the clone lost tools");
        }
        // A source may need something of the branch that an empty context does not have.
        Err(RegistryError::Source(_)) => {}
        Err(error) => panic!("{name}: {error}"),
    }
    registry.deactivate().await;
}
