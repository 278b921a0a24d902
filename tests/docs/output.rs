//! Whether a program has printed what a page shows.

/// How far numbers may be from those shown: relative, and as they are for what is zero but for rounding.
const RELATIVE: f64 = 1e-5;
const ABSOLUTE: f64 = 1e-9;

/// Compares what was printed with what is shown, line by line and word by word. A line `...` stands for any lines;
/// `..` at the end of a word for any rest of it, at the end of a line for any rest of that.
pub fn compare(shown: &str, printed: &str) -> Result<(), String> {
    let mut printed = printed.lines().filter(|line| !line.trim().is_empty());
    let mut any = false;
    for shown in shown.lines().filter(|line| !line.trim().is_empty()) {
        if shown.trim() == "..." {
            any = true;
            continue;
        }
        loop {
            let Some(line) = printed.next() else {
                return Err(format!("is not printed: {shown}"));
            };
            if is_line(shown, line) {
                break;
            }
            if !any {
                return Err(format!("shown:   {shown}\nprinted: {line}"));
            }
        }
        any = false;
    }
    match printed.next() {
        Some(line) if !any => Err(format!("is printed, too: {line}")),
        _ => Ok(()),
    }
}

fn is_line(shown: &str, printed: &str) -> bool {
    let words = |line: &'_ str| -> Vec<String> {
        let words = line.split(|c: char| c.is_whitespace() || ",()".contains(c));
        words.filter(|word| !word.is_empty()).map(str::to_string).collect()
    };
    let open = shown.trim_end().ends_with(" ..");
    let (mut shown, mut printed) = (words(shown), words(printed));
    if open {
        shown.pop();
        printed.truncate(shown.len());
    }
    shown.len() == printed.len() && shown.iter().zip(&printed).all(|(a, b)| is_word(a, b))
}

fn is_word(shown: &str, printed: &str) -> bool {
    if let Some(start) = shown.strip_suffix("..") {
        return printed.starts_with(start);
    }
    match (shown.parse::<f64>(), printed.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= ABSOLUTE + RELATIVE * a.abs().max(b.abs()),
        _ => shown == printed,
    }
}
