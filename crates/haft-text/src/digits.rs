/// Writes a number with its digits in groups of three: `1 998 000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_stand_in_groups_of_three() {
        let written = [0, 999, 1000, 12_345, 1_998_000].map(grouped);
        assert_eq!(written, ["0", "999", "1 000", "12 345", "1 998 000"]);
        assert_eq!(grouped(u64::MAX), "18 446 744 073 709 551 615");
    }
}
