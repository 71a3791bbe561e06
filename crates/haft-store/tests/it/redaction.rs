//! What is taken out of a record.

use haft_store::{REDACTED, Redaction};
use proptest::prelude::*;
use serde_json::{Value, json};

fn redaction() -> Redaction {
    Redaction::new(["SECRETabc".to_owned(), "two\nlines \"quoted\"".to_owned()]).unwrap()
}

#[track_caller]
fn check_text(text: &str, expected: &str) {
    assert_eq!(redaction().text(text), expected);
}

#[track_caller]
fn check_json(value: Value, expected: Value) {
    assert_eq!(redaction().json(&value), expected);
}

#[test]
fn a_text_without_secrets_is_not_copied() {
    let redaction = redaction();
    let text = "fn token_count(tokens: usize) -> usize { tokens } // author: me, key: none";
    assert!(matches!(redaction.text(text), std::borrow::Cow::Borrowed(same) if same == text));
}

#[test]
fn handed_in_secrets_are_taken_out_wherever_they_stand() {
    check_text("xSECRETabcx SECRETabc", "x[redacted]x [redacted]");
    check_json(
        json!({ "SECRETabc": ["SECRETabc", { "a": "=two\nlines \"quoted\"=" }] }),
        json!({ "[redacted]": ["[redacted]", { "a": "=[redacted]=" }] }),
    );
}

#[test]
fn the_longer_of_two_handed_in_secrets_is_taken_out_whole() {
    let redaction = Redaction::new(["abcd".to_owned(), "abcdefgh".to_owned()]).unwrap();
    assert_eq!(redaction.text("abcdefgh abcd"), "[redacted] [redacted]");
}

#[test]
fn a_handed_in_secret_of_three_bytes_is_ignored() {
    let redaction = Redaction::new(["abc".to_owned(), String::new()]).unwrap();
    assert_eq!(redaction.text("abc"), "abc");
}

#[test]
fn tokens_of_known_shape_are_taken_out() {
    for token in [
        "sk-proj-Ab3dEf6hIj9kLm2nOp5q",
        "sk-ant-api03-Ab3dEf6hIj9kLm2n",
        "ghp_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrst",
        "glpat-Ab3dEf6hIj9kLm2nOp5q",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefGHIJ",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "npm_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d",
        "hf_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r",
    ] {
        check_text(&format!("see ({token})."), "see ([redacted]).");
        check_text(token, "[redacted]");
    }
}

#[test]
fn what_only_looks_like_a_token_stays() {
    for text in [
        "task-force-of-many-people-here",
        "sk-short",
        "ghp_short",
        "AKIA",
        "eyJ.eyJ",
        "risk-averse",
    ] {
        check_text(text, text);
    }
}

#[test]
fn a_private_key_is_taken_out_to_its_end_or_to_the_end_of_the_text() {
    let key =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza\nC1rZXk\n-----END OPENSSH PRIVATE KEY-----";
    check_text(&format!("before\n{key}\nafter"), "before\n[redacted]\nafter");
    check_text("a -----BEGIN PRIVATE KEY-----\nMIIE", "a [redacted]");
    check_text("-----BEGIN PUBLIC KEY-----\nMIIE", "-----BEGIN PUBLIC KEY-----\nMIIE");
}

const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

#[test]
fn a_private_key_whose_lines_are_texts_of_their_own_is_taken_out() {
    check_json(
        json!({ "lines": [
            { "number": 1, "text": "-----BEGIN PRIVATE KEY-----" }, { "number": 2, "text": KEY_LINE },
            { "number": 3, "text": "a+b" }, { "number": 4, "text": "-----END PRIVATE KEY----- after" },
            { "number": 5, "text": "plain" },
        ], "path": "id_rsa" }),
        json!({ "lines": [
            { "number": 1, "text": REDACTED }, { "number": 2, "text": REDACTED },
            { "number": 3, "text": REDACTED }, { "number": 4, "text": "[redacted] after" },
            { "number": 5, "text": "plain" },
        ], "path": "id_rsa" }),
    );
    check_json(
        json!(["-----BEGIN RSA PRIVATE KEY-----", "x", ["y"]]),
        json!([REDACTED, REDACTED, [REDACTED]]),
    );
}

#[test]
fn lines_around_a_match_in_a_private_key_are_taken_out_whatever_their_order() {
    for border in ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"] {
        let found = json!({ "matches": [{ "path": "a.pem", "text": border, "before": [KEY_LINE], "after": [KEY_LINE] }] });
        let redacted = redaction().json(&found);
        assert!(!redacted.to_string().contains(KEY_LINE), "{redacted}");
        assert_eq!(redacted["matches"][0]["path"], "a.pem");
        let redacted = redaction().text(&found.to_string()).into_owned();
        assert!(!redacted.contains(KEY_LINE), "{redacted}");
    }
}

#[test]
fn the_end_of_a_private_key_is_taken_out_behind_numbers_of_lines() {
    check_text(
        &format!("7\t{KEY_LINE}\n8:{KEY_LINE}\n9-abcd==\n10\t-----END PRIVATE KEY-----"),
        "7\t[redacted]\n8:[redacted]\n9-[redacted]\n10\t-----END PRIVATE KEY-----",
    );
    check_text(&format!("{KEY_LINE}\n"), &format!("{KEY_LINE}\n"));
}

#[test]
fn lines_of_configuration_are_known_behind_numbers_of_lines_and_paths() {
    for row in ["", "2\t", "  12\t", "2:", "2-", "src/a.yml:2:"] {
        for (line, expected) in [
            ("api_key: X1", "api_key: [redacted]"),
            ("  - api_key: a#b!c # mine", "  - api_key: [redacted] # mine"),
            ("aws_secret_access_key = abc/def+1", "aws_secret_access_key = [redacted]"),
            ("db.password = hunter2", "db.password = [redacted]"),
            ("DB_PASS=hunter2", "DB_PASS=[redacted]"),
            ("export DB_PASS='hunter2'", "export DB_PASS='[redacted]'"),
            ("secret_key_base: 0123abc", "secret_key_base: [redacted]"),
            ("const password = `hunter2`", "const password = `[redacted]`"),
            ("\"password\": 12345670107,", "\"password\": [redacted],"),
            ("\"passwords\": [\"a]\", \"b\"],", "\"passwords\": [[redacted]],"),
            ("<db.password>hunter2</db.password>", "<db.password>[redacted]</db.password>"),
            (
                "<add key=\"Password\" value=\"hunter2\"/>",
                "<add key=\"Password\" value=\"[redacted]\"/>",
            ),
            (
                "<property name=\"db.password\">x</property>",
                "<property name=\"db.password\">[redacted]</property>",
            ),
            ("password hunter2", "password [redacted]"),
            ("machine h login u password hunter2", "machine h login u password [redacted]"),
        ] {
            check_text(&format!("{row}{line}\n"), &format!("{row}{expected}\n"));
        }
    }
}

#[test]
fn values_on_the_lines_after_their_name_are_taken_out() {
    check_text(
        "1\t\"password\":\n2\t            \"hunter2\"",
        "1\t\"password\":\n2\t            \"[redacted]\"",
    );
    for text in [
        "1\tpassword: |\n2\t  hunter2\n3\t  hunter3\n",
        "passwords:\n  - hunter2\n  - hunter3\n",
        "1\t\"tokens\": {\"secrets\": [\n2\t  \"hunter2\",\n3\t  \"hunter3\"\n4\t]}",
    ] {
        let redacted = redaction().text(text).into_owned();
        assert!(redacted.contains(REDACTED) && !redacted.contains("hunter"), "{redacted}");
    }
}

#[test]
fn passwords_of_users_on_command_lines_are_taken_out() {
    check_text("curl -u me:hunter2 https://x", "curl -u me:[redacted] https://x");
    check_text("curl --user 'me:hunter2' x", "curl --user 'me:[redacted]' x");
    check_text("git push -u origin main", "git push -u origin main");
    check_json(
        json!(["curl", "-u", "me:hunter2", "x"]),
        json!(["curl", "-u", "me:[redacted]", "x"]),
    );
}

#[test]
fn tokens_of_services_are_taken_out() {
    for token in [
        concat!("GOCSPX", "-Ab3dEf6hIj9kLm2nOp5qRs8t"),
        concat!("hvs", ".CAESIAb3dEf6hIj9kLm2nOp5q"),
        concat!("dckr_", "pat_Ab3dEf6hIj9kLm2nOp5q"),
        concat!("whsec", "_Ab3dEf6hIj9kLm2nOp5q"),
        concat!("123456789", ":AAb3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z_-0"),
    ] {
        check_text(&format!("see ({token})."), "see ([redacted]).");
    }
    check_text(
        concat!("https://hooks.slack.com/", "services/T0000/B0000/XXXX1234"),
        "https://hooks.slack.com/services/[redacted]",
    );
    check_text(
        concat!(
            "https://api.telegram.org/bot123456789",
            ":AAb3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z_-0/getMe"
        ),
        "https://api.telegram.org/[redacted]/getMe",
    );
}

#[test]
fn a_url_taken_for_a_path_loses_its_password() {
    check_text("https:/u:hunter2@h/x", "https:/u:[redacted]@h/x");
    check_text("src/https:/u:hunter2@h/x", "src/https:/u:[redacted]@h/x");
}

#[test]
fn a_text_that_hides_a_secret_behind_escapes_goes_as_a_whole() {
    for text in [
        r#"{"a": "SECRET\u0061bc""#,
        r#"{"a": "{\"b\": \"SECRET\\u0061bc\"}""#,
        r#"{"a": "two\nlines \"quoted\"""#,
        r#"{"a": "\u0067hp_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z""#,
        r#"{"pass\u0077ord": "hunter2""#,
        r#"{"pass\u0077ord": 12345"#,
    ] {
        check_text(text, REDACTED);
    }
    check_text(r#"{"password":12345670107"#, r#"{"password":[redacted]"#);
    for text in [r"a\tb \u0041 \ud800 \u00", r"C:\new\table", r"\"] {
        check_text(text, text);
    }
}

#[test]
fn headers_are_taken_out_to_the_end_of_the_line_or_of_the_quotes() {
    check_text(
        "GET / HTTP/1.1\r\nAuthorization: Basic YWJj\r\nCookie: a=b; c=d\r\nHost: x",
        "GET / HTTP/1.1\r\nAuthorization: [redacted]\r\nCookie: [redacted]\r\nHost: x",
    );
    check_text(
        r#"curl -H "Authorization: token abc def" -H 'X-Api-Key: k' https://x"#,
        r#"curl -H "Authorization: [redacted]" -H 'X-Api-Key: [redacted]' https://x"#,
    );
    check_text("sent Bearer abcDEF123.x-y_z~+/=", "sent Bearer [redacted]");
}

#[test]
fn urls_lose_their_password_and_the_secrets_of_their_query() {
    check_text("https://user:p@ss@host/path", "https://user:[redacted]@host/path");
    check_text("redis://:pw@host", "redis://:[redacted]@host");
    check_text("https://0123456789abcdef01234567@host/x", "https://[redacted]@host/x");
    check_text("ssh://git@github.com/a/b", "ssh://git@github.com/a/b");
    check_text("http://localhost:8080/a@b", "http://localhost:8080/a@b");
    check_text(
        "https://x/?page=2&access_token=abc&key=def#part",
        "https://x/?page=2&access_token=[redacted]&key=[redacted]#part",
    );
}

#[test]
fn values_behind_names_of_secrets_are_taken_out_of_text() {
    check_text("export GITHUB_TOKEN=abc; run", "export GITHUB_TOKEN=[redacted]; run");
    check_text("mysql --password=hunter2 -u me", "mysql --password=[redacted] -u me");
    check_text("login --token abc --verbose", "login --token [redacted] --verbose");
    check_text("login --api-key 'a b'", "login --api-key '[redacted]'");
    check_text("password: hunter2\nuser: me", "password: [redacted]\nuser: me");
    check_text("  client_secret: abc  \n", "  client_secret: [redacted]  \n");
    check_text(r#"let password = "hunter2";"#, r#"let password = "[redacted]";"#);
    check_text(r"'api_key' => 'abc\'def',", "'api_key' => '[redacted]',");
    check_text("bad login (password: hunter2)", "bad login (password: [redacted])");
}

#[test]
fn code_that_only_speaks_of_secrets_stays() {
    for text in [
        "let token = parser.next_token();",
        "struct Login { token: Token, cookies: Cookies }",
        "if token == expected { return }",
        "unexpected token: `}`",
        "max_tokens=4096",
        "passwords are hashed; the secret lies in the salt",
    ] {
        check_text(text, text);
    }
}

#[test]
fn raw_json_that_could_not_be_read_is_redacted_as_text() {
    check_text(
        r#"{"user": "me", "password" : "hunt\"er2", "nested": {"apiKey":"abc"#,
        r#"{"user": "me", "password" : "[redacted]", "nested": {"apiKey":"[redacted]"#,
    );
    check_text(
        r#"{"body": "{\"password\": \"hunter2\"}"}"#,
        r#"{"body": "{\"password\": \"[redacted]\"}"}"#,
    );
}

#[test]
fn everything_under_a_key_that_names_a_secret_is_taken_out() {
    check_json(
        json!({
            "Password": "x", "api-key": 12345, "token": null, "secret": true, "cookies": { "sid": ["a", 1] },
            "password_confirmation": "x", "max_tokens": 5, "credentials": "", "path": "a/b"
        }),
        json!({
            "Password": REDACTED, "api-key": REDACTED, "token": null, "secret": true,
            "cookies": { "sid": [REDACTED, REDACTED] }, "password_confirmation": REDACTED, "max_tokens": 5,
            "credentials": "", "path": "a/b"
        }),
    );
}

#[test]
fn pairs_of_name_and_value_and_flags_with_a_value_are_known() {
    check_json(
        json!({ "headers": [{ "name": "Authorization", "value": "abc" }, { "name": "Accept", "value": "text" }] }),
        json!({ "headers": [{ "name": "Authorization", "value": REDACTED }, { "name": "Accept", "value": "text" }] }),
    );
    check_json(
        json!(["run", "--token", "abc", "--verbose", "yes", "--password=x", "y"]),
        json!(["run", "--token", REDACTED, "--verbose", "yes", "--password=[redacted]", "y"]),
    );
}

#[test]
fn values_nested_without_end_are_cut() {
    let mut value = json!("leaf");
    for _ in 0..5_000 {
        value = Value::Array(vec![value]);
    }
    let text = redaction().json(&value).to_string();
    assert!(text.contains("nested too deeply"), "{text}");
    // Taking such a value apart again would recurse as deeply as it was built.
    std::mem::forget(value);
}

#[test]
fn a_text_built_to_be_redacted_without_end_is_given_up() {
    let redaction = redaction();
    let hostile = "password=".repeat(20_000);
    let once = redaction.text(&hostile).into_owned();
    assert_eq!(redaction.text(&once), once);
}

/// Pieces that meet at the borders of patterns.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "password",
            "token",
            "api_key",
            "=",
            ": ",
            "\"",
            "'",
            "\\\"",
            " ",
            "\n",
            "--",
            "-",
            "SECRETabc",
            REDACTED,
            "[",
            "]",
            "redacted",
            "sk-",
            "AAAAAAAAAAAAAAAAAAAAAAAA",
            "ghp_",
            "AKIA",
            "eyJ",
            ".",
            "://",
            "@",
            "https",
            "?key",
            "&",
            "Bearer ",
            "Authorization",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "é",
            "xoxb-",
            "1234567890",
            "=>",
            "`",
            "{",
            "}",
            ",",
            "value",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9_=:@/ \"'-]{0,8}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        pieces().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((pieces(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn redacting_a_text_twice_is_redacting_it_once(text in pieces()) {
        let redaction = redaction();
        let once = redaction.text(&text).into_owned();
        prop_assert_eq!(redaction.text(&once), once.as_str());
        prop_assert!(!once.contains("SECRETabc"));
    }

    #[test]
    fn redacting_a_value_twice_is_redacting_it_once(value in values()) {
        let redaction = redaction();
        let once = redaction.json(&value);
        prop_assert_eq!(&redaction.json(&once), &once);
        let text = once.to_string();
        prop_assert!(!text.contains("SECRETabc"));
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), once);
    }
}
