//! The id of a message that cannot be read as one.

use serde_json::Value;

/// Bytes of an id that is looked for.
const MOST: usize = 256;

/// Looks for the id of a message while its bytes go by, however long, deep or broken the rest of it is.
///
/// Whoever sent it waits for an answer under that id. It is the `id` of the outermost object, not one further in.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: u64,
    is_object: bool,
    in_string: bool,
    is_escaped: bool,
    place: Place,
    /// The key or the value of an id so far, as it is spelled; nothing once it is too long or no single word.
    spelled: Option<Vec<u8>>,
    id: Option<Value>,
}

/// Where in the outermost object the scan is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Key,
    Id,
    OtherValue,
}

impl IdScan {
    /// Scans a line.
    pub(super) fn of(line: &[u8]) -> Option<Value> {
        let mut scan = Self::default();
        scan.feed(line);
        scan.found()
    }

    /// Goes on with the bytes that follow.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Returns the id, if there is one that an answer can go by.
    pub(super) fn found(self) -> Option<Value> {
        self.id
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.spell(byte);
            self.in_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        match byte {
            b'"' => {
                self.spell(byte);
                self.in_string = true;
            }
            b'{' | b'[' => self.enter(byte),
            b'}' | b']' => self.leave(),
            b':' if self.depth == 1 && self.place == Place::Key => {
                let is_id = self.spelled.as_deref() == Some(br#""id""#.as_slice());
                self.place = if is_id { Place::Id } else { Place::OtherValue };
                self.spelled = Some(Vec::new());
            }
            b',' if self.depth == 1 => {
                self.end_value();
                self.place = Place::Key;
                self.spelled = Some(Vec::new());
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.spell(byte),
        }
    }

    fn enter(&mut self, byte: u8) {
        match self.depth {
            0 => {
                self.is_object = byte == b'{';
                self.spelled = Some(Vec::new());
            }
            // An id is neither an object nor a list.
            1 => self.spelled = None,
            _ => {}
        }
        self.depth = self.depth.saturating_add(1);
    }

    fn leave(&mut self) {
        if self.depth == 1 {
            self.end_value();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn spell(&mut self, byte: u8) {
        let is_looked_at = self.depth == 1 && self.place != Place::OtherValue;
        let Some(spelled) = self.spelled.as_mut().filter(|_| is_looked_at) else { return };
        if spelled.len() < MOST {
            spelled.push(byte);
        } else {
            self.spelled = None;
        }
    }

    fn end_value(&mut self) {
        if self.place != Place::Id || !self.is_object || self.id.is_some() {
            return;
        }
        let value = self.spelled.take().and_then(|it| serde_json::from_slice(&it).ok());
        self.id = value.filter(|it: &Value| it.is_string() || it.is_number());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_id_of_a_broken_message_is_found() {
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"x"} trailing"#, json!(7)),
            (r#"{"id" : "a,}\"b" , "params": [}"#, json!("a,}\"b")),
            (r#"{"params":{"id":1,"x":"\\"},"id":-2}"#, json!(-2)),
            (r#"{"id":1.5,"method":"#, json!(1.5)),
            ("{\"params\":\"\u{0}\",\"id\":0}", json!(0)),
        ] {
            assert_eq!(IdScan::of(line.as_bytes()), Some(id), "{line}");
        }
    }

    #[test]
    fn what_is_no_id_is_not_taken_for_one() {
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(MOST));
        for line in [
            "",
            "id",
            r#"{"id":1"#,
            r#"{"id":"a"#,
            r#"{"id":null}"#,
            r#"{"id":{"id":1}}"#,
            r#"{"id":[1]}"#,
            r#"{"id":12x}"#,
            r#"[{"id":1}]"#,
            r#"{"params":{"id":1}}"#,
            r#"{"x":"id","y":1}"#,
            r#"{"x":"\"id\":1,"}"#,
            "]}]}{",
            &long,
        ] {
            assert_eq!(IdScan::of(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn nesting_costs_nothing() {
        let deep = "[".repeat(1_000_000);
        let line = format!(r#"{{"params":{deep},"id":1}}"#);
        assert_eq!(IdScan::of(line.as_bytes()), None);
        let closed = format!(r#"{{"params":{deep}{},"id":1}}"#, "]".repeat(1_000_000));
        assert_eq!(IdScan::of(closed.as_bytes()), Some(json!(1)));
    }
}
