//! What holds for every policy and every call.

use globset::GlobBuilder;
use haft_policy::{Layer, Origin, PathPattern, Policy, Preset, Rule, RuleAccess};
use haft_protocol::{Access, Capability, Decision, LogicalPath};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::call::Call;

const TOOLS: [&str; 4] = ["builtin/edit", "builtin/read", "web/fetch", "github:issues/list"];
const TOOL_PATTERNS: [&str; 7] = ["*", "edit", "read", "web/*", "github:*", "*/*", "fix"];
const PATTERNS: [&str; 14] = [
    "**",
    ".",
    "*",
    "src/**",
    "src/*",
    "src/a",
    "src",
    "**/key",
    "secrets/",
    "{src,docs}/**/a",
    "/data/**",
    "**/*",
    "src/[ab]",
    "docs/?",
];

fn path() -> impl Strategy<Value = String> {
    let part = select(vec!["src", "docs", "secrets", "a", "b", "key", ".env"]);
    (any::<bool>(), vec(part, 0..4)).prop_map(|(further, parts)| {
        match (further, parts.is_empty()) {
            (false, true) => ".".to_owned(),
            (false, false) => parts.join("/"),
            (true, true) => "/data".to_owned(),
            (true, false) => format!("/data/{}", parts.join("/")),
        }
    })
}

fn effects() -> impl Strategy<Value = Vec<Capability>> {
    subsequence(Capability::ALL.to_vec(), 0..=6)
}

fn access() -> impl Strategy<Value = Access> {
    select(vec![Access::Read, Access::ReadTree, Access::Write, Access::WriteTree])
}

fn call() -> impl Strategy<Value = Call> {
    let resources = vec((path(), access()), 0..3);
    (select(&TOOLS[..]), any::<bool>(), effects(), any::<bool>(), resources).prop_map(
        |(tool, alias, effects, always, resources)| {
            let call = Call::new(tool, &effects);
            let call = if alias { call.by_alias("local/fix") } else { call };
            let call = if always { call.always_asking() } else { call };
            resources.iter().fold(call, |call, (path, access)| call.on(path, *access))
        },
    )
}

fn layer() -> impl Strategy<Value = Layer> {
    select(vec![Layer::Default, Layer::User, Layer::Project, Layer::Flag])
}

fn rule() -> impl Strategy<Value = Rule> {
    rule_to(&[Decision::Allow, Decision::Ask, Decision::Deny])
}

fn rule_to(decisions: &'static [Decision]) -> impl Strategy<Value = Rule> {
    (
        select(decisions),
        vec(select(&TOOL_PATTERNS[..]), 0..3),
        vec(select(&PATTERNS[..]), 0..3),
        subsequence(Capability::ALL.to_vec(), 0..=2),
        option::of(select(vec![RuleAccess::Read, RuleAccess::Write])),
        (layer(), any::<bool>()),
    )
        .prop_map(|(decision, tools, paths, capabilities, access, (layer, trusted))| {
            let mut origin = Origin::new(layer);
            origin.trusted |= trusted;
            let mut rule = Rule::new(decision).with_origin(origin);
            if tools.is_empty() && paths.is_empty() && capabilities.is_empty() {
                rule = rule.tool("*".parse().unwrap());
            }
            rule = tools.iter().fold(rule, |rule, it| rule.tool(it.parse().unwrap()));
            rule = paths.iter().fold(rule, |rule, it| rule.path(it.parse().unwrap()));
            rule = capabilities.into_iter().fold(rule, Rule::capability);
            access.into_iter().fold(rule, Rule::access)
        })
}

fn build(preset: Preset, layer: Layer, rules: Vec<Rule>, yes: bool) -> Policy {
    let builder = Policy::builder()
        .preset(preset, Origin::new(layer))
        .further_root(LogicalPath::new("/data"))
        .rules(rules);
    if yes { builder.yes().build() } else { builder.build() }.unwrap()
}

fn preset() -> impl Strategy<Value = Preset> {
    select(Preset::ALL.to_vec())
}

fn policy() -> impl Strategy<Value = Policy> {
    (preset(), layer(), vec(rule(), 0..6), any::<bool>())
        .prop_map(|(preset, layer, rules, yes)| build(preset, layer, rules, yes))
}

proptest! {
    #[test]
    fn full_path_means_in_the_first_root_what_its_rest_means(
        rest in select(PATTERNS.into_iter().filter(|it| !it.starts_with('/')).collect::<Vec<_>>()),
        root in select(vec!["/home/me", "/", "/a", "/data"]),
        around in any::<bool>(),
        decision in select(vec![Decision::Deny, Decision::Allow]),
        path in path(),
        access in access(),
    ) {
        prop_assume!(!path.starts_with('/') && (rest != "." || !around));
        // Written through the name of the root, or with a wildcard in place of it.
        let first = if around { "/**".to_owned() } else { root.trim_end_matches('/').to_owned() };
        let full = if rest == "." { root.to_owned() } else { format!("{first}/{rest}") };
        let rest = if around { format!("**/{rest}") } else { rest.to_owned() };
        let decide = |pattern: &str| {
            let rule = Rule::new(decision).path(pattern.parse().unwrap());
            let policy = Policy::builder()
                .preset(Preset::ReadOnly, Origin::default())
                .first_root(LogicalPath::new(root))
                .rule(rule)
                .build()
                .unwrap();
            let call = Call::new("x/run", &[Capability::WriteFiles]).on(&path, access);
            let sees = call.under(&policy).filter().sees(&LogicalPath::new("src/a"));
            (call.under(&policy).decision(), sees)
        };
        if !around || root == "/" {
            prop_assert_eq!(decide(&full), decide(&rest), "{} {}", full, rest);
        } else if decide(&rest).0 == Decision::Deny && decision == Decision::Deny {
            prop_assert_eq!(decide(&full).0, Decision::Deny, "{} {}", full, rest);
        }
    }

    #[test]
    fn every_text_parses_or_is_refused(text in ".{0,40}", path in ".{0,40}") {
        let path = LogicalPath::new(path);
        if let Ok(pattern) = text.parse::<PathPattern>() {
            prop_assert!(!pattern.matches(&path) || pattern.covers(&path));
        }
        let _ = text.parse::<haft_policy::ToolPattern>();
    }

    #[test]
    fn exact_pattern_matches_its_path_alone(path in "[a-c*?{},\\[\\]!~. \\\\-]{1,6}(/[a-c*?{},\\[\\]!~ \\\\-]{1,6}){0,2}", other in path()) {
        prop_assume!(path.split('/').all(|part| part != ".."));
        let path = LogicalPath::new(path);
        let pattern = PathPattern::exactly(&path).unwrap();
        prop_assert!(pattern.matches(&path), "{pattern}");
        prop_assert!(PathPattern::tree(&path).unwrap().covers(&path));
        let other = LogicalPath::new(other);
        let same = other.as_str().split('/').filter(|it| *it != ".").eq(path.as_str().split('/').filter(|it| *it != "."));
        prop_assert_eq!(pattern.matches(&other), same);
    }

    #[test]
    fn globs_match_as_an_independent_engine_does(
        parts in vec(select(vec!["**", "*", "?", "a", "a*", "*b", "[ab]", "[!a]", "{a,bc}", "a?c"]), 1..5),
        path in vec(select(vec!["a", "b", "ab", "abc", "bc", "c", "."]), 1..5),
    ) {
        let text = parts.join("/");
        let path: Vec<&str> = path.into_iter().filter(|part| *part != ".").collect();
        prop_assume!(!path.is_empty());
        let path = path.join("/");
        let glob = |text: &str| {
            GlobBuilder::new(text).literal_separator(true).build().unwrap().compile_matcher()
        };
        // The one difference by design: `a/**` matches `a` as well.
        let directory = text.trim_end_matches("/**");
        let expected = glob(&text).is_match(&path)
            || (text.ends_with("/**") && glob(directory).is_match(&path));
        let pattern: PathPattern = text.parse().unwrap();
        prop_assert_eq!(pattern.matches(&LogicalPath::new(path)), expected);
    }

    #[test]
    fn deciding_is_total_and_explained_alike(policy in policy(), call in call()) {
        let verdict = call.under(&policy);
        let explanation = call.with(|subject| policy.explain(subject));
        prop_assert_eq!(explanation.decision, verdict.decision());
        prop_assert_eq!(&explanation.because, verdict.because());
        prop_assert_eq!(explanation.levels.iter().map(|level| level.decision).max(), Some(verdict.decision()));
        prop_assert_eq!(verdict.refusal().is_none(), verdict.decision() == Decision::Allow);
        prop_assert!(!explanation.to_string().is_empty());
    }

    #[test]
    fn matching_deny_always_wins(preset in preset(), rules in vec(rule(), 0..6), at in 0_usize..6, yes in any::<bool>(), call in call()) {
        let mut rules = rules;
        let deny = Rule::deny().tool(call.tool().to_string().parse().unwrap());
        rules.insert(at.min(rules.len()), deny);
        prop_assert_eq!(call.under(&build(preset, Layer::User, rules, yes)).decision(), Decision::Deny);
    }

    #[test]
    fn another_restriction_never_widens(preset in preset(), layer in layer(), rules in vec(rule(), 0..6), more in rule_to(&[Decision::Ask, Decision::Deny]), yes in any::<bool>(), call in call(), met in path(), access in access()) {
        let before = call.under(&build(preset, layer, rules.clone(), yes));
        let after = call.under(&build(preset, layer, [rules, vec![more]].concat(), yes));
        prop_assert!(after.decision() >= before.decision());
        let met = LogicalPath::new(met);
        prop_assert!(before.filter().admits(&met, access) || !after.filter().admits(&met, access));
    }

    #[test]
    fn untrusted_project_never_widens(preset in preset(), layer in layer(), rules in vec(rule(), 0..5), more in rule(), call in call()) {
        let before = call.under(&build(preset, layer, rules.clone(), false));
        let more = more.with_origin(Origin::new(Layer::Project));
        let after = call.under(&build(preset, layer, [vec![more], rules].concat(), false));
        prop_assert!(after.decision() >= before.decision());
    }

    #[test]
    fn order_of_rules_does_not_matter(
        (rules, shuffled) in vec(rule(), 0..7).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        preset in preset(), layer in layer(), yes in any::<bool>(), call in call(), met in path(), access in access(),
    ) {
        let one = call.under(&build(preset, layer, rules, yes));
        let other = call.under(&build(preset, layer, shuffled, yes));
        prop_assert_eq!(one.decision(), other.decision());
        let met = LogicalPath::new(met);
        prop_assert_eq!(one.filter().admits(&met, access), other.filter().admits(&met, access));
    }

    #[test]
    fn stricter_preset_never_widens(presets in subsequence(Preset::ALL.to_vec(), 2), rules in vec(rule(), 0..6), call in call()) {
        let (one, other) = (presets[0], presets[1]);
        let strict = call.under(&build(one, Layer::User, rules.clone(), false)).decision();
        let loose = call.under(&build(other, Layer::User, rules, false)).decision();
        prop_assert!(strict >= loose);
    }

    #[test]
    fn yes_moves_asks_alone(preset in preset(), layer in layer(), rules in vec(rule(), 0..6), call in call()) {
        let before = call.under(&build(preset, layer, rules.clone(), false)).decision();
        let after = call.under(&build(preset, layer, rules, true)).decision();
        prop_assert!(after == before || (before == Decision::Ask && after == Decision::Allow));
    }

    #[test]
    fn narrowing_allows_what_both_allow(one in policy(), other in policy(), call in call(), met in path(), access in access()) {
        let both = call.under(&one.narrow(&other));
        let (one, other) = (call.under(&one), call.under(&other));
        prop_assert_eq!(both.decision(), one.decision().max(other.decision()));
        let met = LogicalPath::new(met);
        let admitted = one.filter().admits(&met, access) && other.filter().admits(&met, access);
        prop_assert_eq!(both.filter().admits(&met, access), admitted);
    }

    #[test]
    fn what_is_confined_stays_in_its_directories_and_may_no_more_than_before(
        policy in policy(), call in call(), one in path(), other in path(), met in path(), access in access(),
    ) {
        let directories = [one, other].map(LogicalPath::new);
        let confined = directories.iter().fold(policy.clone(), |policy, directory| {
            let level = Policy::builder().preset(Preset::Full, Origin::default()).within(directory.clone());
            policy.narrow(&level.build().unwrap())
        });
        let is_inside = |path: &LogicalPath| directories.iter().all(|it| {
            it.as_str() == "." && !path.as_str().starts_with('/')
                || path == it
                || path.as_str().starts_with(&format!("{it}/"))
        });
        let (before, after) = (call.under(&policy), call.under(&confined));
        prop_assert!(after.decision() >= before.decision());
        if after.decision() < Decision::Deny {
            prop_assert!(call.with(|subject| subject.resources.iter().all(|it| is_inside(&it.path))));
            prop_assert!(!call.capabilities().has(Capability::Execute));
        }
        let met = LogicalPath::new(met);
        let admitted = before.filter().admits(&met, access) && is_inside(&met);
        prop_assert_eq!(after.filter().admits(&met, access), admitted);
        // It is stored with its directories.
        let back: Policy = serde_json::from_str(&serde_json::to_string(&confined).unwrap()).unwrap();
        prop_assert_eq!(&back, &confined);
        prop_assert_ne!(confined.digest(), policy.digest());
    }

    #[test]
    fn filter_agrees_with_the_decision_on_a_single_path(rules in vec(rule(), 0..6), tool in select(&TOOLS[..]), effects in effects(), met in path(), access in access()) {
        // What is bound so counts as an effect of the call; say so in both.
        let effect = if access.writes() { Capability::WriteFiles } else { Capability::ReadFiles };
        let call = Call::new(tool, &[effects, vec![effect]].concat());
        let about_paths = rules.into_iter().filter(|rule| !rule.paths().is_empty()).collect();
        let policy = build(Preset::Full, Layer::User, about_paths, false);
        let filter = call.under(&policy).filter().clone();
        let alone = call.on(&met, access).under(&policy);
        prop_assert_eq!(filter.admits(&LogicalPath::new(met), access), alone.decision() == Decision::Allow);
    }

    // Of a call that is bound to nothing: an answer may open a part of what is hidden.
    #[test]
    fn nothing_is_seen_beneath_a_hidden_directory(policy in policy(), tool in select(&TOOLS[..]), effects in effects(), directory in path(), below in "[a-z]{1,3}(/[a-z]{1,3}){0,2}", access in select(vec![Access::Read, Access::Write])) {
        let filter = Call::new(tool, &effects).under(&policy).filter().clone();
        let deeper = LogicalPath::new(format!("{directory}/{below}"));
        let directory = LogicalPath::new(directory);
        prop_assert!(filter.admits(&directory, access) || !filter.admits(&deeper, access));
    }

    #[test]
    fn what_is_ruled_out_is_never_allowed(policy in policy(), call in call(), narrowed in effects()) {
        let ceiling = call.capabilities();
        if policy.rules_out(call.tool(), call.alias(), &ceiling).is_some() {
            let effects: Vec<_> = narrowed.into_iter().filter(|effect| ceiling.has(*effect)).collect();
            prop_assume!(!effects.is_empty() || ceiling.effects().next().is_none());
            let mut actual = Call::new(&call.tool().to_string(), &effects);
            if let Some(alias) = call.alias() {
                actual = actual.by_alias(&alias.to_string());
            }
            let actual = call.with(|subject| subject.resources.to_vec()).iter()
                .fold(actual, |actual, it| actual.on(it.path.as_str(), it.access));
            prop_assert_eq!(actual.under(&policy).decision(), Decision::Deny);
        }
    }

    #[test]
    fn stored_policy_decides_alike(policy in policy(), call in call()) {
        let back: Policy = serde_json::from_str(&serde_json::to_string(&policy).unwrap()).unwrap();
        prop_assert_eq!(back.digest(), policy.digest());
        prop_assert_eq!(call.under(&back).decision(), call.under(&policy).decision());
    }
}
