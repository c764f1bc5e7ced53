//! The machine code of a tape: made when it is first needed, kept with the tape and shared by all who evaluate it.

use crate::emit::{AssembledCode, EmitTarget};
use crate::ir::layout::Layout;
use crate::ir::tape::Tape;
use crate::simd::{ExecutableCode, Level};
use std::sync::{Arc, Mutex, PoisonError};

/// Code of one order, or `None` where there can be none.
pub(crate) type MachineCode = Option<Arc<ExecutableCode>>;

/// What code is made for: order, target, instructions.
type CodeKey = (usize, EmitTarget, Level);

/// All code of a tape.
#[derive(Debug, Default)]
struct CodeCache(Mutex<Vec<(CodeKey, MachineCode)>>);

/// The code of a tape for elements of so many lanes (a single trajectory: 1).
pub(crate) fn code(tape: &Tape, layout: &Layout, lanes: usize, level: Level) -> MachineCode {
    let set = level.code()?;
    let target = match lanes {
        1 => EmitTarget::Single,
        lanes if lanes == set.lanes() => EmitTarget::Lanes,
        // Vectors of another width are interpreted.
        _ => return None,
    };
    let key = (layout.order, target, level);
    let mut all = tape.attached::<CodeCache>().0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, code)) = all.iter().find(|(k, _)| *k == key) {
        return code.clone();
    }
    let program = AssembledCode::assemble(tape, layout, target, set);
    // Values without orders are of use to a single trajectory only.
    let program = program.filter(|program| target == EmitTarget::Single || program.orders().is_some());
    let code = program.and_then(|program| ExecutableCode::new(program, level)).map(Arc::new);
    all.push((key, code.clone()));
    code
}
