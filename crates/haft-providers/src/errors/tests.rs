use ModelErrorKind as Kind;

use super::*;

fn kind(status: u16, body: &str) -> Kind {
    Report::of_body(status, body.as_bytes()).kind()
}

const OVERFLOWS: &[&str] = &[
    "prompt is too long: 210231 tokens > 200000 maximum",
    "This model's maximum context length is 32768 tokens. However, you requested 33000 tokens",
    "the request exceeds the available context size",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)",
    "Input is too long for requested model.",
    "total message size 5242881 exceeds limit 5242880",
    "Invalid request: Your request exceeded model token limit: 8192",
];

#[test]
fn o_096_an_overflow_is_known_in_whatever_words() {
    for text in OVERFLOWS {
        let openai =
            serde_json::json!({"error": {"message": text, "type": "invalid_request_error"}});
        let anthropic = serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}});
        for body in [openai.to_string(), anthropic.to_string(), (*text).to_owned()] {
            assert_eq!(kind(400, &body), Kind::Overflow, "{body}");
            // A proxy puts the words of others into its own status.
            assert_eq!(kind(500, &body), Kind::Overflow, "{body}");
        }
        assert_eq!(Report::of_json(&openai).kind(), Kind::Overflow, "in a stream: {text}");
        let wrapped = serde_json::json!({"error": {"code": 502, "message": "upstream", "metadata": {"raw": text}}});
        assert_eq!(Report::of_json(&wrapped).kind(), Kind::Overflow, "{wrapped}");
    }
    let code = r#"{"error":{"code":"context_length_exceeded","message":"no"}}"#;
    assert_eq!(kind(400, code), Kind::Overflow);
    let code = r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#;
    assert_eq!(kind(413, code), Kind::Overflow);
    assert_eq!(kind(413, ""), Kind::Overflow);
}

#[test]
fn o_096_what_is_no_overflow_is_not_taken_for_one() {
    let cases = [
        (
            400,
            "input length and max_tokens exceed context limit: 188240 + 21333 > 200000",
            Kind::OutputOverflow,
        ),
        (
            400,
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
            Kind::OutputOverflow,
        ),
        (
            429,
            "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 45000",
            Kind::RateLimited,
        ),
        (429, "tokens per min (TPM): Limit 30000, Requested 45000", Kind::RateLimited),
        (400, "image dimensions exceed max allowed size: 8000 pixels", Kind::BadRequest),
        (400, "tools.12.custom.name: String should match pattern", Kind::BadRequest),
        (
            413,
            "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 8000",
            Kind::RateLimited,
        ),
    ];
    for (status, text, expected) in cases {
        let body = serde_json::json!({"error": {"message": text}}).to_string();
        assert_eq!(kind(status, &body), expected, "{text}");
    }
}

#[test]
fn o_088_statuses_and_codes_say_what_may_pass() {
    let cases = [
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Kind::Overloaded,
        ),
        (
            503,
            r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
            Kind::Overloaded,
        ),
        (429, "", Kind::RateLimited),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#,
            Kind::Quota,
        ),
        (402, r#"{"error":{"message":"Insufficient credits"}}"#, Kind::Quota),
        (
            400,
            r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#,
            Kind::Quota,
        ),
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-x","code":"invalid_api_key"}}"#,
            Kind::Credentials,
        ),
        (403, "", Kind::Credentials),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
            Kind::UnknownModel,
        ),
        (404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, Kind::UnknownModel),
        (
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#,
            Kind::UnknownModel,
        ),
        (404, "<html>404</html>", Kind::BadRequest),
        (500, "", Kind::Server),
        (502, "<html>bad gateway</html>", Kind::Server),
        (408, "", Kind::Server),
        (400, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, Kind::BadRequest),
        (
            400,
            r#"{"error":{"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#,
            Kind::Reasoning,
        ),
        (
            400,
            r#"{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back"}}"#,
            Kind::Reasoning,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
            Kind::Credentials,
        ),
    ];
    for (status, body, expected) in cases {
        assert_eq!(kind(status, body), expected, "{status} {body}");
    }
    let in_stream = serde_json::json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(Report::of_json(&in_stream).kind(), Kind::Overloaded);
    let coded = serde_json::json!({"error": {"code": 429, "message": "slow down"}});
    assert_eq!(Report::of_json(&coded).kind(), Kind::RateLimited);
    assert_eq!(Report::of_json(&serde_json::json!({"error": {}})).kind(), Kind::Server);
}

#[test]
fn the_size_of_a_window_is_read_where_it_is_told() {
    let window = |body: &str| {
        let report = Report::of_body(400, body.as_bytes());
        report.into_error("x", str::to_owned).window_tokens
    };
    assert_eq!(window(OVERFLOWS[0]), Some(200_000));
    assert_eq!(window(OVERFLOWS[1]), Some(32_768));
    assert_eq!(window(OVERFLOWS[2]), None);
    assert_eq!(window(OVERFLOWS[3]), Some(1_048_576));
    assert_eq!(
        window("input length and max_tokens exceed context limit: 188240 + 21333 > 200000"),
        Some(200_000)
    );
    let llama = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#;
    assert_eq!(window(llama), Some(4096));
}

#[test]
fn words_of_others_are_bounded_and_without_the_key() {
    let body = serde_json::json!({"error": {"message": format!("no \u{1b}[31m key-1234 {}", "x".repeat(5000))}});
    let report = Report::of_json(&body);
    let error = report.into_error("openai/x", |text| text.replace("key-1234", "[secret]"));
    assert!(!error.text.contains("key-1234") && !error.text.contains('\u{1b}'), "{}", error.text);
    assert!(error.text.len() < 900);
}
