use crate::trace::Trace;
pub(crate) struct Picture<'a> {
    pub(crate) title: &'a str,
    pub(crate) replay: &'a str,
    pub(crate) failing: &'a Trace,
    pub(crate) passing: Option<&'a Trace>,
    pub(crate) pair: Option<(usize, usize)>,
}
impl Picture<'_> {
    pub(crate) fn svg(&self) -> String {
        String::new()
    }
    pub(crate) fn html(&self) -> String {
        String::new()
    }
}
pub(crate) fn chrome_trace(_: &Trace) -> String {
    String::new()
}
