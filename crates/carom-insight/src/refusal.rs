//! A question that has no answer as asked: what is wrong, and a way out.

use std::fmt;

/// Why a question is not answered.
///
/// ```
/// use carom_insight::Refusal;
/// let refusal = Refusal::wrong("there is no event or wall `flor`", "did you mean the wall `floor`?");
/// assert!(refusal.is_wrong_request());
/// assert_eq!(refusal.to_string(), "there is no event or wall `flor`");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What is wrong, a sentence.
    pub message: String,
    /// A way out.
    pub hint: String,
    wrong_request: bool,
}

impl Refusal {
    /// The request has no meaning for this model: nothing was computed.
    pub fn wrong(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), hint: hint.into(), wrong_request: true }
    }

    /// The request makes sense, and the computation did not get to an answer.
    pub fn unanswered(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), hint: hint.into(), wrong_request: false }
    }

    /// Is the request itself wrong, rather than without an answer?
    pub fn is_wrong_request(&self) -> bool {
        self.wrong_request
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
