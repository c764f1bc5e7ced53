//! The address is handed to the browser of whoever sits here, and to nobody else.
//!
//! What a program is started with, every user of the machine can read. So the browser is not given the address, which holds the
//! token, but a file that only this user can read and that leads there.

use super::token;
use crate::terminal;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file that leads to the studio; it goes when the studio ends.
pub struct Door(PathBuf);

impl Drop for Door {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

impl Door {
    /// A page in `folder` that goes to the address at once. Its name is new: nothing that waits there is followed.
    fn make(folder: &Path, address: &str) -> io::Result<Door> {
        let path = folder.join(format!("carom-studio-{}.html", token()));
        let mut file = own(&path)?;
        let door = Door(path);
        write!(
            file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>carom studio</title>\n\
             <p><a href=\"{address}\">carom studio</a></p>\n"
        )?;
        Ok(door)
    }
}

/// A new file for this user alone.
fn own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens the address in the browser of whoever sits here. Without one, the address is on the terminal.
pub fn open(address: &str) -> Option<Door> {
    if !terminal::watched() {
        return None;
    }
    let door = Door::make(&std::env::temp_dir(), address).ok()?;
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let quiet = Stdio::null;
    let started = Command::new(program).arg(&door.0).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if let Ok(mut child) = started {
        // It ends by itself; somebody must hear of it.
        _ = std::thread::Builder::new().spawn(move || child.wait());
    }
    Some(door)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_leads_to_the_studio_is_for_this_user_alone_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let door = Door::make(folder.path(), "http://127.0.0.1:1/secret/").unwrap();
        let path = door.0.clone();
        assert!(std::fs::read_to_string(&path).unwrap().contains("url=http://127.0.0.1:1/secret/\""));
        assert!(!path.to_string_lossy().contains("secret"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        drop(door);
        assert!(!path.exists());
    }
}
