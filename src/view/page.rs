//! One HTML file that needs nothing beside it: styles, scripts and data are in the page, and it may load
//! nothing.

use serde::Serialize;

use crate::Error;

/// A page to be written.
pub(super) struct Page<'a> {
    /// What the window is called.
    pub title: &'a str,
    /// The class of its body, which says how it is laid out.
    pub class: &'a str,
    /// What it may do besides.
    pub may: May,
    /// Scripts, in order. The last draws the page from the data.
    pub scripts: &'a [&'a str],
}

/// What a page may do besides being drawn by its scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum May {
    /// Nothing.
    Nothing,
    /// Ask where it comes from.
    Ask,
    /// Run the WebAssembly module that it holds.
    RunModule,
}

const STYLE: &str = include_str!("web/page.css");

impl Page<'_> {
    /// The text of the file. All of the data is drawn as text by the scripts, never read as HTML.
    ///
    /// # Errors
    /// If the data has no JSON.
    pub fn html(&self, data: &impl Serialize) -> Result<String, Error> {
        let json = serde_json::to_string(data)
            .map_err(|error| Error::io(self.title, std::io::Error::other(error)))?;
        let (eval, asks) = match self.may {
            May::Nothing => ("", ""),
            May::Ask => ("", "; connect-src 'self'"),
            May::RunModule => (" 'wasm-unsafe-eval'", ""),
        };
        let mut text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'{eval}; img-src data:{asks}\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <link rel=\"icon\" href=\"data:,\"/>\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body class=\"{}\">\n\
             <noscript>This page is drawn by the script in it: allow it to run.</noscript>\n\
             <main id=\"page\"></main>\n\
             <script type=\"application/json\" id=\"data\">{}</script>\n",
            escaped(self.title),
            self.class,
            harmless(&json),
        );
        for script in self.scripts {
            text.push_str("<script>\n");
            // Whoever wants to read it has it elsewhere, with its comments.
            let lines = script.lines().map(str::trim_start);
            for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
                text.push_str(line);
                text.push('\n');
            }
            text.push_str("</script>\n");
        }
        text.push_str("</body>\n</html>\n");
        Ok(text)
    }
}

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The same JSON without what could end a script: these characters stand in strings only.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => text.push(c),
        }
    }
    text
}
