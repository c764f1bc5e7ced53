//! Films: GIF by ourselves, MP4 through ffmpeg, which is fed frame by frame.

use crate::failure::Failure;
use crate::interrupt;
use carom_show::film::Film;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Is there an ffmpeg? Asked before the work begins.
///
/// # Errors
/// If not, with a way out.
pub fn need_ffmpeg() -> Result<(), Failure> {
    let found = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match found {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::File(
            "cannot write .mp4: the program ffmpeg was not found\n  hint: install it (apt install ffmpeg), or write .gif or .html, which need nothing"
                .to_owned(),
        )),
    }
}

/// Writes a film as MP4.
///
/// # Errors
/// If ffmpeg cannot be started or fails; no file is left behind then.
pub fn mp4(film: &Film, output: &str) -> Result<(), Failure> {
    let fail = |error| Failure::write(output, &error);
    // ffmpeg opens its file by name: in a folder that nobody else can put a link into.
    let beside = Path::new(output).parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = tempfile::Builder::new()
        .prefix(".carom-film-")
        .tempdir_in(beside.unwrap_or_else(|| Path::new(".")))
        .map_err(fail)?;
    let temporary = folder.path().join("film.mp4");
    encode(film, &temporary.to_string_lossy())?;
    std::fs::rename(&temporary, output).map_err(fail)
}

fn encode(film: &Film, target: &str) -> Result<(), Failure> {
    let size = format!("{}x{}", film.width, film.height);
    let rate = film.rate().to_string();
    let mut child = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", &size])
        .args(["-framerate", &rate, "-i", "-", "-c:v", "libx264", "-preset", "medium", "-crf", "18"])
        .args(["-metadata", &format!("comment={}", film.stamp.json()), "-bitexact"])
        .args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", target])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| Failure::File(format!("cannot start ffmpeg: {error}")))?;
    let mut cut = false;
    if let Some(mut input) = child.stdin.take() {
        for n in 0..film.len() {
            cut = interrupt::interrupted() || input.write_all(&film.frame(n).rgb).is_err();
            if cut {
                break;
            }
        }
    }
    let status = child.wait().map_err(|error| Failure::File(format!("ffmpeg: {error}")))?;
    if cut || !status.success() {
        return Err(Failure::File("ffmpeg did not finish; no film was written".to_owned()));
    }
    Ok(())
}
