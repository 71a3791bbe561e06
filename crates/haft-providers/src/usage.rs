//! Token counts: from what providers report to the one normal form.
//!
//! Every report of one reply is cumulative, whether it comes once, in every chunk, or at the start and at the end, so that of
//! each number the greatest counts, and nothing is ever added up. What is missing, null or no number stays unknown.

use haft_protocol::TokenUsage;
use serde_json::Value;

/// The reports of one reply.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reports {
    /// The prompt with all that caches had and took.
    prompt: Option<u64>,
    /// The prompt without.
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    micro_usd: Option<u64>,
    doubtful: bool,
}

impl Reports {
    /// Takes a report in the words of Chat Completions: cached tokens are part of the prompt.
    pub(crate) fn chat_completions(&mut self, usage: &Value) {
        let cached = "/prompt_tokens_details/cached_tokens";
        let written = "/prompt_tokens_details/cache_write_tokens";
        let reasoning = "/completion_tokens_details/reasoning_tokens";
        self.both(usage.get("prompt_tokens"), usage.get("completion_tokens"));
        self.at(|it| &mut it.cache_read, usage.pointer(cached));
        self.at(|it| &mut it.cache_read, usage.get("prompt_cache_hit_tokens"));
        self.at(|it| &mut it.cache_write, usage.pointer(written));
        self.at(|it| &mut it.reasoning, usage.pointer(reasoning));
        self.cost(usage.get("cost"));
    }

    /// Takes a report in the words of Responses: cached tokens are part of the prompt.
    pub(crate) fn responses(&mut self, usage: &Value) {
        let cached = "/input_tokens_details/cached_tokens";
        let written = "/input_tokens_details/cache_write_tokens";
        let reasoning = "/output_tokens_details/reasoning_tokens";
        self.both(usage.get("input_tokens"), usage.get("output_tokens"));
        self.at(|it| &mut it.cache_read, usage.pointer(cached));
        self.at(|it| &mut it.cache_write, usage.pointer(written));
        self.at(|it| &mut it.reasoning, usage.pointer(reasoning));
        self.cost(usage.get("cost"));
    }

    /// Takes a report in the words of Messages: what caches had and took stands beside the prompt.
    pub(crate) fn messages(&mut self, usage: &Value) {
        self.at(|it| &mut it.input, usage.get("input_tokens"));
        self.at(|it| &mut it.cache_read, usage.get("cache_read_input_tokens"));
        self.at(|it| &mut it.cache_write, usage.get("cache_creation_input_tokens"));
        self.at(|it| &mut it.output, usage.get("output_tokens"));
    }

    /// Takes a report in the words of Gemini: cached tokens are part of the prompt, and thoughts stand beside the answer.
    pub(crate) fn gemini(&mut self, usage: &Value) {
        let mut count = |name: &str| {
            let mut number = None;
            self.take(&mut number, usage.get(name));
            number
        };
        let prompts = [count("promptTokenCount"), count("toolUsePromptTokenCount")];
        let answers = [count("candidatesTokenCount"), count("thoughtsTokenCount")];
        let cached = count("cachedContentTokenCount");
        let sum =
            |numbers: [Option<u64>; 2]| numbers.into_iter().flatten().reduce(u64::saturating_add);
        self.prompt = self.prompt.max(sum(prompts));
        self.output = self.output.max(sum(answers));
        let [_, thoughts] = answers;
        self.reasoning = self.reasoning.max(thoughts);
        self.cache_read = self.cache_read.max(cached);
    }

    /// Takes the tokens of a prompt and of its answer, which are reported together.
    fn both(&mut self, prompt: Option<&Value>, output: Option<&Value>) {
        let reported = (prompt, output);
        let (mut prompt, mut output) = (None, None);
        self.take(&mut prompt, reported.0);
        self.take(&mut output, reported.1);
        // Nothing for a prompt and nothing for an answer is what servers say that do not count.
        if prompt != Some(0) || output.is_some_and(|output| output > 0) {
            self.prompt = self.prompt.max(prompt.filter(|prompt| *prompt > 0));
            self.output = self.output.max(output);
        }
    }

    fn at(&mut self, field: fn(&mut Self) -> &mut Option<u64>, value: Option<&Value>) {
        let mut number = *field(self);
        self.take(&mut number, value);
        *field(self) = number;
    }

    /// Returns tokens of the answer, where they were counted.
    pub(crate) fn output(&self) -> Option<u64> {
        self.output
    }

    /// Returns the normal form.
    pub(crate) fn finish(self) -> TokenUsage {
        let mut doubtful = self.doubtful;
        let (mut cache_read, mut cache_write) = (self.cache_read, self.cache_write);
        let input = match (self.input, self.prompt) {
            (None, Some(prompt)) => {
                let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
                if cached > prompt {
                    doubtful = true;
                    cache_read = cache_read.map(|read| read.min(prompt));
                    let left = prompt - cache_read.unwrap_or(0);
                    cache_write = cache_write.map(|written| written.min(left));
                }
                Some(prompt.saturating_sub(cached))
            }
            (input, _) => input,
        };
        let mut reasoning = self.reasoning;
        if let (Some(tokens), Some(output)) = (reasoning, self.output)
            && tokens > output
        {
            doubtful = true;
            reasoning = Some(output);
        }
        TokenUsage {
            input,
            cache_read,
            cache_write,
            output: self.output,
            reasoning,
            micro_usd: self.micro_usd,
            doubtful,
        }
    }

    /// Keeps the greater of what is known and what is reported.
    fn take(&mut self, number: &mut Option<u64>, reported: Option<&Value>) {
        match reported.map(read) {
            Some(Number::Count(count)) => *number = (*number).max(Some(count)),
            Some(Number::Absurd) => self.doubtful = true,
            Some(Number::Unknown) | None => {}
        }
    }

    fn cost(&mut self, dollars: Option<&Value>) {
        let Some(dollars) =
            dollars.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()))
        else {
            return;
        };
        if dollars.is_finite() && (0.0..1e9).contains(&dollars) {
            let millionths = (dollars * 1e6).ceil() as u64;
            self.micro_usd = self.micro_usd.max(Some(millionths));
        } else {
            self.doubtful = true;
        }
    }
}

enum Number {
    Count(u64),
    Unknown,
    Absurd,
}

/// Reads a count, which some servers write as text or with a fraction.
fn read(value: &Value) -> Number {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.trim().parse() {
            Ok(number) => Some(number),
            Err(_) => return Number::Unknown,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match number {
        None => Number::Unknown,
        Some(number) if number.is_finite() && (0.0..9e15).contains(&number) => {
            Number::Count(number as u64)
        }
        Some(_) => Number::Absurd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chat(reports: &[Value]) -> TokenUsage {
        let mut all = Reports::default();
        for report in reports {
            all.chat_completions(report);
        }
        all.finish()
    }

    fn known(input: u64, output: u64) -> TokenUsage {
        TokenUsage { input: Some(input), output: Some(output), ..TokenUsage::default() }
    }

    #[test]
    fn o_090_what_is_not_reported_is_not_known() {
        let unknown = TokenUsage::default();
        assert_eq!(chat(&[]), unknown);
        assert_eq!(chat(&[json!(null), json!({}), json!({"prompt_tokens": null})]), unknown);
        assert_eq!(chat(&[json!({"total_tokens": 12})]), unknown);
        assert_eq!(chat(&[json!({"prompt_tokens": 0, "completion_tokens": 0})]), unknown);
        assert_eq!(chat(&[json!({"prompt_tokens": "many", "completion_tokens": []})]), unknown);
    }

    #[test]
    fn o_090_numbers_are_read_in_every_form() {
        assert_eq!(chat(&[json!({"prompt_tokens": "12", "completion_tokens": 3.0})]), known(12, 3));
    }

    #[test]
    fn o_090_reports_that_grow_are_not_added_up() {
        let report = |prompt: u64, output: u64| json!({"prompt_tokens": prompt, "completion_tokens": output});
        assert_eq!(chat(&[report(12, 1), report(12, 2), json!(null), report(12, 3)]), known(12, 3));
        let mut both = Reports::default();
        both.messages(
            &json!({"input_tokens": 164, "output_tokens": 1, "cache_read_input_tokens": 10}),
        );
        both.messages(&json!({"output_tokens": 31, "input_tokens": 0}));
        let expected = TokenUsage { cache_read: Some(10), ..known(164, 31) };
        assert_eq!(both.finish(), expected);
    }

    #[test]
    fn o_090_a_prompt_is_cut_into_parts_that_do_not_overlap() {
        let report = json!({
            "prompt_tokens": 100, "completion_tokens": 20, "cost": 0.000_012_3,
            "prompt_tokens_details": {"cached_tokens": 80},
            "completion_tokens_details": {"reasoning_tokens": 5},
        });
        let usage = chat(&[report]);
        assert_eq!(
            (usage.input, usage.cache_read, usage.prompt()),
            (Some(20), Some(80), Some(100))
        );
        assert_eq!((usage.reasoning, usage.micro_usd, usage.doubtful), (Some(5), Some(13), false));
    }

    #[test]
    fn o_090_the_words_of_each_dialect_come_to_the_same() {
        let expected = TokenUsage { cache_read: Some(80), reasoning: Some(5), ..known(20, 20) };
        let mut responses = Reports::default();
        responses.responses(&json!({
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 80},
            "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 120,
        }));
        assert_eq!(responses.finish(), expected);
        let mut gemini = Reports::default();
        gemini.gemini(&json!({"promptTokenCount": 100, "totalTokenCount": 100}));
        gemini.gemini(&json!({"promptTokenCount": 100, "thoughtsTokenCount": 5}));
        gemini.gemini(&json!({
            "promptTokenCount": 100, "cachedContentTokenCount": 80, "candidatesTokenCount": 15,
            "thoughtsTokenCount": 5, "totalTokenCount": 120,
        }));
        assert_eq!(gemini.finish(), expected);
        let mut silent = Reports::default();
        silent.gemini(&json!({"promptTokenCount": null, "totalTokenCount": 3}));
        silent.responses(&json!({"input_tokens": 0, "output_tokens": 0}));
        assert_eq!(silent.finish(), TokenUsage::default());
    }

    #[test]
    fn o_090_a_report_that_contradicts_itself_is_doubtful() {
        let much =
            json!({"prompt_tokens": 10, "prompt_cache_hit_tokens": 80, "completion_tokens": 1});
        let usage = chat(&[much]);
        assert_eq!((usage.input, usage.cache_read, usage.doubtful), (Some(0), Some(10), true));
        assert!(chat(&[json!({"prompt_tokens": -3})]).doubtful);
        assert_eq!(chat(&[json!({"prompt_tokens": -3})]).input, None);
        assert!(chat(&[json!({"completion_tokens": 1e300})]).doubtful);
    }
}
