//! Films: frames and GIFs.

mod stage;

use carom_show::film::{Film, FilmStyle};
use std::path::PathBuf;

fn small() -> FilmStyle {
    FilmStyle { width: 200, rate: 10.0, ..FilmStyle::gif() }
}

#[test]
fn a_film_is_written_for_the_eye() {
    let (mechanics, motion) = stage::ball(1201);
    let film = Film::new(&mechanics, &motion, FilmStyle::gif()).expect("a film");
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("films");
    std::fs::create_dir_all(&directory).expect("a writable target directory");
    std::fs::write(directory.join("ball.gif"), film.gif()).expect("writable");
}

#[test]
fn a_gif_read_back_shows_the_frames_that_were_painted() {
    let (mechanics, motion) = stage::ball(301);
    let film = Film::new(&mechanics, &motion, small()).expect("a film");
    let bytes = film.gif();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(&bytes[..]).expect("a gif");
    let (width, height) = (film.width, film.height);
    assert_eq!((usize::from(decoder.width()), usize::from(decoder.height())), (width, height));
    let mut canvas = vec![0u8; width * height * 3];
    let mut count = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a frame") {
        for y in 0..usize::from(frame.height) {
            for x in 0..usize::from(frame.width) {
                let p = &frame.buffer[4 * (y * usize::from(frame.width) + x)..][..4];
                if p[3] > 0 {
                    let at = 3 * ((y + usize::from(frame.top)) * width + x + usize::from(frame.left));
                    canvas[at..at + 3].copy_from_slice(&p[..3]);
                }
            }
        }
        let painted = film.frame(count);
        // The palette steps by less than 1/24 of the way between two colours; mixtures of two drawn colours may be farther.
        let worst = canvas.iter().zip(&painted.rgb).filter(|(a, b)| a.abs_diff(**b) > 24).count();
        assert!(worst * 100 < canvas.len(), "frame {count}: {worst} of {}", canvas.len());
        count += 1;
    }
    assert_eq!(count, film.len());
}

#[test]
fn frames_have_even_sides_and_are_the_same_every_time() {
    let (mechanics, motion) = stage::ball(301);
    let make = || Film::new(&mechanics, &motion, FilmStyle { width: 201, ..small() }).expect("a film");
    let film = make();
    assert_eq!((film.width % 2, film.height % 2), (0, 0));
    assert_eq!(film.frame(7), make().frame(7));
    assert_ne!(film.frame(0), film.frame(7));
    assert_eq!(film.gif(), make().gif());
}

#[test]
fn impossible_films_are_refused() {
    let (mechanics, motion) = stage::ball(11);
    assert!(Film::new(&mechanics, &motion, FilmStyle { speed: Some(0.0), ..small() }).is_err());
    assert!(Film::new(&mechanics, &motion, FilmStyle { speed: Some(1e-9), ..small() }).is_err());
    assert!(Film::new(&mechanics, &carom_run::Motion::default(), small()).is_err());
    let (mechanics, motion) = stage::ball(1);
    assert_eq!(Film::new(&mechanics, &motion, small()).expect("one frame").len(), 1);
}
