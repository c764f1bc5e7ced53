//! The files of the studio, compressed, put into this program by `build.rs`; none when it was built without them.

/// A file of the studio.
#[derive(Debug)]
pub struct StudioFile {
    /// Its path below the page.
    pub name: &'static str,
    /// Its bytes, gzip.
    pub gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/studio.rs"));

impl StudioFile {
    /// Its bytes as they are.
    pub fn plain(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // What was packed while building unpacks.
        _ = std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(self.gzip), &mut out);
        out
    }

    /// What a browser is told it is.
    pub fn mime(&self) -> &'static str {
        match self.name.rsplit('.').next().unwrap_or("") {
            "html" => "text/html; charset=utf-8",
            "js" | "mjs" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "wasm" => "application/wasm",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "json" | "webmanifest" => "application/json",
            "woff2" => "font/woff2",
            "txt" | "md" | "toml" => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }
}
