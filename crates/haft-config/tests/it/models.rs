//! Who is asked, where, and what is known of it.

use haft_config::ModelPrice;

use crate::files::{Files, dropped};

const MODELS: &str = r#"
[model]
default = "fast"

[models.fast]
model = "anthropic/claude-haiku-4-5"
price = { input = 1, output = 5.25, cache_read = 0.1 }

[models.box]
base_url = "https://box.example:8443/v1"
provider = "vllm"
dialect = "chat-completions"
key_env = "BOX_KEY"
window_tokens = 32_768
output_tokens = 4096
sees_images = true
temperature = 0.7
effort = "low"
strict = true
first_word_seconds = 1_800

[network]
plain_http = ["box.example"]
"#;

#[test]
fn names_of_models_and_servers_are_read_with_what_is_known_of_them() {
    let config = Files::user(MODELS).load().unwrap();
    assert_eq!(config.model.as_deref(), Some("fast"));
    assert_eq!(config.origin("model.default").line, Some(3));
    assert_eq!(config.plain_http, ["box.example"]);
    let fast = &config.models["fast"];
    assert_eq!(fast.model.as_ref().unwrap().to_string(), "anthropic/claude-haiku-4-5");
    let price = ModelPrice {
        input: 1_000_000,
        output: 5_250_000,
        cache_read: 100_000,
        // As much as without a cache, where nobody says otherwise.
        cache_write: 1_000_000,
    };
    assert_eq!(fast.price, Some(price));
    let server = &config.models["box"];
    assert_eq!(server.base_url.as_deref(), Some("https://box.example:8443/v1"));
    assert_eq!((server.window_tokens, server.output_tokens), (Some(32_768), Some(4_096)));
    assert_eq!(server.key_env.as_deref(), Some("BOX_KEY"));
    assert_eq!(server.sees_images, Some(true));
    assert_eq!((server.temperature, server.effort), (Some(700), Some("low")));
    assert_eq!((server.strict, server.first_word_seconds), (Some(true), Some(1_800)));
    assert_eq!(server.origin.line, Some(9));
}

#[test]
fn a_project_that_nobody_trusts_has_no_say_in_who_is_asked() {
    let config = Files::project(MODELS).load().unwrap();
    assert_eq!((config.model.as_ref(), config.models.len()), (None, 0));
    assert!(config.plain_http.is_empty());
    insta::assert_snapshot!(dropped(&config), @r#"
    .haft/config.toml:3: not followed until you trust this file with `haft trust`: choose the model `fast`
    .haft/config.toml:5: not followed until you trust this file with `haft trust`: say who the model `fast` is
    .haft/config.toml:9: not followed until you trust this file with `haft trust`: say who the model `box` is
    .haft/config.toml:23: not followed until you trust this file with `haft trust`: let `box.example` be asked without encryption
    "#);
}

#[test]
fn a_slip_is_told_with_what_would_be_right() {
    let wrong = [
        ("[model]\ndefault = \"\"", "not empty"),
        ("[model]\nname = \"x\"", "unknown key `model.name`"),
        ("[models.x]\nmodel = \"haiku\"", "expected `provider/name`"),
        ("[models.x]\nbase_ur = \"http://x\"", "did you mean `base_url`"),
        ("[models.x]\nwindow_tokens = 3", "expected 256 to"),
        ("[models.x]\noutput_tokens = 3", "expected 16 to"),
        ("[models.x]\nprice = { input = -1 }", "US dollars"),
        ("[models.x]\nprice = { input = nan }", "US dollars"),
        ("[models.x]\nprice = { in = 1 }", "unknown key"),
        ("[models.x]\ntemperature = 2.5", "a number from 0 to 2"),
        ("[models.x]\ntemperature = nan", "a number from 0 to 2"),
        ("[models.x]\neffort = \"hihg\"", "did you mean `high`"),
        ("[models]\nx = 1", "a table"),
        ("[network]\nplain_http = \"x\"", "a list"),
    ];
    for (text, expected) in wrong {
        let error = Files::user(text).load().unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
