//! Pure decisions about calls: rules, presets, verdicts, explanations.
