//! Functions → recurrences. With the Euler derivation D = s d/ds, s = t − t₀ (so that D u has the coefficients k u_k), every function satisfies a linear
//! equation in D: D sin u = cos u D u, D log u = D u / u, (1 + u²) D atan u = D u, and so on.

use super::{Lowering, ONE, Shared, ZERO, shape};
use crate::ir::system::CompileError;
use crate::ir::tape::{InitialValue, Linear, Op, Product, RowIndex, TapeValue};
use crate::values::Operation;
use carom_expr::{Exponent, Function};

impl Lowering<'_> {
    /// f(a), or f(a, b): a constant, or the row of a recurrence D(out) = … .
    pub(crate) fn function(
        &mut self,
        f: Function,
        a: TapeValue,
        b: TapeValue,
    ) -> Result<TapeValue, CompileError> {
        use Function::{Acos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Exp, Log, Sin, Sinh, Tan, Tanh};
        let u = match (a, b) {
            (TapeValue::Constant(x), TapeValue::Constant(y)) => {
                return Ok(TapeValue::Constant(self.constant(Operation::Function(f, x, y))));
            }
            _ if f == Function::Atan2 => return Ok(TapeValue::Row(self.atan2(a, b))),
            _ if matches!(f, Function::Abs | Function::Sign | Function::Min | Function::Max) => {
                return Err(CompileError::Piecewise(f.name()));
            }
            (TapeValue::Row(u), _) => u,
            (TapeValue::Constant(_), TapeValue::Row(_)) => {
                return Err(shape("a function of one argument has two"));
            }
        };
        let du = self.euler(u);
        let start = InitialValue::Function(f, u);
        Ok(TapeValue::Row(match f {
            Sin | Cos => {
                let sin = self.pair(Shared::SinCos(u), |sin, cos| Op::SinCos { u, du, sin, cos });
                if f == Sin { sin } else { sin + 1 }
            }
            Sinh | Cosh => {
                let sinh = self.pair(Shared::SinhCosh(u), |sinh, cosh| Op::SinhCosh { u, du, sinh, cosh });
                if f == Sinh { sinh } else { sinh + 1 }
            }
            Exp => {
                let out = self.row();
                self.ops.push(Op::Exp { du, out, start });
                out
            }
            Tan | Tanh => {
                let (tan, weight) = (self.row(), self.row());
                self.ops.push(Op::Tan { u, du, tan, weight, hyperbolic: f == Tanh });
                tan
            }
            Log => self.integrate(du, u, start),
            Atan | Atanh => {
                let weight = self.weight(u, 1, if f == Atan { 1 } else { -1 });
                self.integrate(du, weight, start)
            }
            Asin | Acos | Asinh | Acosh => {
                let inside = match f {
                    Asinh => self.weight(u, 1, 1),
                    Acosh => self.weight(u, -1, 1),
                    _ => self.weight(u, 1, -1),
                };
                let mut weight = self.sqrt(inside);
                if f == Acos {
                    let coefficient = self.constant(Operation::Number(-1.0));
                    weight = self.dot(ZERO, vec![Linear { coefficient, a: weight }], vec![]);
                }
                self.integrate(du, weight, start)
            }
            Function::Atan2 | Function::Abs | Function::Sign | Function::Min | Function::Max => {
                return Err(CompileError::Piecewise(f.name()));
            }
        }))
    }

    /// Two neighbouring rows made by one instruction.
    pub(crate) fn pair(&mut self, key: Shared, op: impl FnOnce(RowIndex, RowIndex) -> Op) -> RowIndex {
        if let Some(&row) = self.shared.get(&key) {
            return row;
        }
        let (first, second) = (self.row(), self.row());
        self.ops.push(op(first, second));
        self.shared.insert(key, first);
        first
    }

    /// θ = atan2(y, x):  (x² + y²) Dθ = x Dy − y Dx.
    fn atan2(&mut self, y: TapeValue, x: TapeValue) -> RowIndex {
        let minus = self.constant(Operation::Number(-1.0));
        let (mut squares, mut linear, mut numerator) = (Vec::new(), Vec::new(), Vec::new());
        let mut constant = ZERO;
        for (value, other, sign) in [(y, x, ONE), (x, y, minus)] {
            match value {
                TapeValue::Row(a) => {
                    squares.push(Product { coefficient: ONE, a, b: a });
                    let da = self.euler(a);
                    match other {
                        TapeValue::Row(b) => numerator.push(Product { coefficient: sign, a: da, b }),
                        TapeValue::Constant(c) => {
                            let coefficient = if sign == ONE {
                                c
                            } else {
                                self.constant(Operation::Product(-1.0, Box::new([(c, Exponent::Whole(1))])))
                            };
                            linear.push(Linear { coefficient, a: da });
                        }
                    }
                }
                TapeValue::Constant(c) => {
                    constant = self.constant(Operation::Product(1.0, Box::new([(c, Exponent::Whole(2))])));
                }
            }
        }
        let weight = self.dot(constant, vec![], squares);
        let numerator = self.dot(ZERO, linear, numerator);
        self.integrate(numerator, weight, InitialValue::Function2(Function::Atan2, y, x))
    }
}
