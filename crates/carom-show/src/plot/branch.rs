//! A branch of orbits over a parameter: stable parts drawn full, unstable ones dashed, special points marked; as a picture, and
//! as a page in which every point says what it is when it is clicked.

use super::frame::{Axis, PlotFrame};
use crate::draw::{Anchor, Area, Label, Line, Picture, Shape, Theme, escape, svg};

/// A branch, ready to be drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct BranchCurve {
    /// Name of the parameter, along the bottom.
    pub parameter: String,
    /// What is drawn over it.
    pub ordinate: String,
    /// In the order of the branch.
    pub points: Vec<BranchCurvePoint>,
    /// Special points.
    pub marks: Vec<Mark>,
}

/// A point of a branch.
#[derive(Clone, PartialEq, Debug)]
pub struct BranchCurvePoint {
    /// The parameter.
    pub x: f64,
    /// What is drawn over it.
    pub y: f64,
    /// Is the orbit stable?
    pub stable: bool,
    /// What it says when it is clicked.
    pub text: String,
}

/// A special point.
#[derive(Clone, PartialEq, Debug)]
pub struct Mark {
    /// The parameter.
    pub x: f64,
    /// What is drawn over it.
    pub y: f64,
    /// `fold`, `grazing`, …
    pub kind: String,
    /// What it says when it is clicked.
    pub text: String,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;

fn frame(curve: &BranchCurve) -> PlotFrame {
    let all = || curve.points.iter().map(|p| (p.x, p.y)).chain(curve.marks.iter().map(|m| (m.x, m.y)));
    let range = |of: fn((f64, f64)) -> f64| {
        let values = || all().map(of).filter(|v| v.is_finite());
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (low, high)) = (range(|p| p.0), range(|p| p.1));
    PlotFrame {
        area: Area { left: 78.0, top: 24.0, right: WIDTH - 24.0, bottom: HEIGHT - 56.0 },
        x: Axis::new(left, right, 0.03, 8, false, Label::name(&curve.parameter)),
        y: Axis::new(low, high, 0.06, 7, false, Label::name(&curve.ordinate)),
    }
}

/// The picture.
///
/// ```
/// use carom_show::plot::branch::{BranchCurve, BranchCurvePoint, Mark, picture};
/// let point = |x: f64, stable| BranchCurvePoint { x, y: x * x, stable, text: String::new() };
/// let fold = Mark { x: 1.0, y: 1.0, kind: "fold".to_owned(), text: String::new() };
/// let points = vec![point(0.0, true), point(1.0, true), point(2.0, false)];
/// let curve = BranchCurve { parameter: "F".to_owned(), ordinate: "x'".to_owned(), points, marks: vec![fold] };
/// assert!(carom_show::draw::svg(&picture(&curve)).contains("fold"));
/// ```
pub fn picture(curve: &BranchCurve) -> Picture {
    let theme = Theme::Light;
    let frame = frame(curve);
    let mut picture = Picture {
        width: WIDTH,
        height: HEIGHT,
        background: theme.background(),
        title: format!("{} over {}", curve.ordinate, curve.parameter),
        shapes: Vec::new(),
    };
    frame.draw_grid(&mut picture, theme);
    for stable in [true, false] {
        // Runs of neighbours of one kind, joined to the point before them so that the curve has no holes.
        let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut open = false;
        for (k, point) in curve.points.iter().enumerate() {
            let at = frame.pixel(point.x, point.y);
            match pieces.last_mut() {
                Some(piece) if open && point.stable == stable => piece.push(at),
                _ if point.stable == stable => {
                    let before = k.checked_sub(1).map(|b| frame.pixel(curve.points[b].x, curve.points[b].y));
                    pieces.push(before.into_iter().chain([at]).collect());
                }
                _ => {}
            }
            open = point.stable == stable;
        }
        let mut line = Line::new(theme.curve(usize::from(!stable)), 1.8);
        if !stable {
            line.dash = Some((6.0, 4.0));
        }
        picture.shapes.push(Shape::Path {
            pieces,
            closed: false,
            fill: None,
            line: Some(line),
            clip: Some(frame.area),
        });
    }
    for mark in &curve.marks {
        let at = frame.pixel(mark.x, mark.y);
        let line = Some(Line::new(theme.ink(), 1.2));
        picture.shapes.push(Shape::Disc { at, radius: 4.0, fill: Some(theme.background()), line });
        let label = Label::plain(&mark.kind.replace('_', " "));
        picture.text((at.0 + 7.0, at.1 - 7.0), label, 11.0, Anchor::Start, theme.ink());
    }
    frame.draw_axes(&mut picture, theme, true, frame.y.label_width() + 26.0);
    picture
}

/// The page: the picture, and what a clicked point is.
pub fn page(title: &str, curve: &BranchCurve) -> String {
    let frame = frame(curve);
    let points = curve.points.iter().map(|p| (p.x, p.y, &p.text, 7.0));
    let marks = curve.marks.iter().map(|m| (m.x, m.y, &m.text, 10.0));
    let mut spots = String::new();
    for (x, y, text, radius) in points.chain(marks) {
        let (left, top) = frame.pixel(x, y);
        let text = escape(text);
        spots += &format!(
            "<circle cx=\"{left:.2}\" cy=\"{top:.2}\" r=\"{radius}\" tabindex=\"0\" role=\"button\"><title>{text}</title></circle>\n"
        );
    }
    let drawn = svg(&picture(curve));
    // The spots lie over the picture, in its own coordinates.
    let drawn = drawn.trim_end().strip_suffix("</svg>").map_or(drawn.clone(), |body| {
        format!("{body}<g id=\"spots\" fill=\"transparent\">\n{spots}</g>\n</svg>")
    });
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>\nbody {{ font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem; max-width: 62rem }}\n\
         svg {{ max-width: 100%; height: auto }}\n#spots circle {{ cursor: pointer }}\n#spots circle:hover, #spots circle:focus \
         {{ fill: #0003; outline: none }}\npre {{ background: #f3f3f3; padding: 1rem; min-height: 8rem }}\n</style>\n</head>\n<h1>{title}</h1>\n\
         {drawn}\n<pre id=\"what\" aria-live=\"polite\">Click a point of the branch.</pre>\n<script>\n\
         const what = document.getElementById('what');\n\
         const tell = (spot) => {{ what.textContent = spot.querySelector('title').textContent; }};\n\
         for (const spot of document.querySelectorAll('#spots circle')) {{\n  spot.addEventListener('click', () => tell(spot));\n  \
         spot.addEventListener('focus', () => tell(spot));\n}}\n</script>\n</html>\n"
    )
}
