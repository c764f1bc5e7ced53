//! What the engine is asked to solve, as expressions.
//!
//! ```text
//! x' = rate(t, x, y, p),    matrix(t, x, y, p) · unknowns = right_side(t, x, y, p)
//! ```

use carom_expr::Expr;
use std::fmt;

/// A first-order system with linear blocks and watched functions. All symbols belong to one `Dag`.
///
/// `rate` may be empty: then the state does not move and the system is a list of functions to evaluate.
#[derive(Clone, Debug)]
pub struct System {
    /// The symbol of time.
    pub time: Expr,
    /// Symbols that are constant along a trajectory, or a part of it: numbers, coefficients of splines, signs of piecewise functions.
    pub parameters: Vec<Expr>,
    /// Symbols of the state x.
    pub state: Vec<Expr>,
    /// x', one per state symbol, or empty.
    pub rate: Vec<Expr>,
    /// Linear systems whose unknowns may be used in later blocks, in `rate` and in `watched`.
    pub blocks: Vec<LinearBlock>,
    /// Functions whose values and series are wanted: what events are roots of, and results.
    pub watched: Vec<Expr>,
    /// Functions whose values alone are wanted, at the state: invariants, sizes of sums. They cost nothing in higher orders.
    pub monitored: Vec<Expr>,
}

/// `matrix · unknowns = right_side`, square; of size 0 it only carries definitions. Symmetric matrices are recognised by equal handles; order unknowns so
/// that a positive definite part comes first (of [[W, Aᵀ], [A, 0]] the unknowns of W).
#[derive(Clone, Debug)]
pub struct LinearBlock {
    /// Symbols that stand for the solution.
    pub unknowns: Vec<Expr>,
    /// The matrix, row by row.
    pub matrix: Vec<Vec<Expr>>,
    /// The right-hand side.
    pub right_side: Vec<Expr>,
    /// Names of the rows, for messages.
    pub names: Vec<String>,
    /// Rows of a symmetric matrix, without diagonal entry, that make the part they touch definite where it is not: a
    /// multiple of aᵀa is added to it when the matrix is factored. The solution does not depend on this.
    pub augmentation_rows: Vec<usize>,
    /// Symbols and what they stand for, in this block and in all that comes later. A defined quantity is computed once, as it
    /// is: it is never multiplied out into the formulas that use its symbol.
    pub definitions: Vec<(Expr, Expr)>,
}

/// Why a system cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// A symbol that is neither time, parameter, state nor an unknown of an earlier block.
    UnknownSymbol(String),
    /// `abs`, `sign`, `min` or `max` of something that moves; the caller must split it first.
    Piecewise(&'static str),
    /// Lists of unequal length, a matrix that is not square, or an input that is not a symbol.
    Shape(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::UnknownSymbol(name) => write!(f, "`{name}` has no value here"),
            CompileError::Piecewise(name) => write!(f, "`{name}` of a moving quantity has no power series"),
            CompileError::Shape(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for CompileError {}

/// A block whose matrix has no usable pivot at this state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Singular {
    /// Which block.
    pub block: usize,
    /// The row (of the block) that depends on the others: the first that has no pivot left.
    pub row: usize,
    /// What was left of that row, relative to its size before elimination. Not finite if the matrix is not.
    pub pivot: f64,
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "linear system {} is singular in row {} (pivot {:.1e})", self.block, self.row, self.pivot)
    }
}

impl std::error::Error for Singular {}
