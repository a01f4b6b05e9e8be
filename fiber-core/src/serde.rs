//! What a tool outside of the program reads: dumps and recordings, for `serde`.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, Visitor};
use serde_core::ser::{Serialize, SerializeStruct, Serializer};

use crate::engine::dump::{Dump, DumpedFiber, DumpedState};
use crate::recording::Recording;

/// The time in nanoseconds, and the list of the fibers, each with the places in this list of the fibers that it refers to.
impl Serialize for Dump {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fibers: Vec<DumpedFiber<'_>> = self.fibers().collect();
        let mut fields = serializer.serialize_struct("Dump", 2)?;
        fields.serialize_field("at", &self.at().as_nanos())?;
        fields.serialize_field("fibers", &fibers)?;
        fields.end()
    }
}

impl Serialize for DumpedFiber<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (state, waits_for, other) = match self.state() {
            DumpedState::NotStarted => ("not started", None, None),
            DumpedState::Runnable => ("runnable", None, None),
            DumpedState::InPart(part) => ("in its part", None, Some(part)),
            DumpedState::Waiting { what, on } => ("waiting", Some(what.to_string()), on),
        };
        let mut fields = serializer.serialize_struct("DumpedFiber", 13)?;
        fields.serialize_field("id", &self.short_id())?;
        fields.serialize_field("name", &self.name())?;
        fields.serialize_field("fork_site", &self.fork_site().to_string())?;
        fields.serialize_field("above", &self.above().map(|above| above.position()))?;
        fields.serialize_field("is_structure", &self.is_structure())?;
        fields.serialize_field("state", state)?;
        fields.serialize_field("waits_for", &waits_for)?;
        fields.serialize_field("other", &other.map(|other| other.position()))?;
        fields.serialize_field("socket", &self.socket())?;
        fields.serialize_field("waits", &self.waits())?;
        fields.serialize_field("is_cancelled", &self.is_cancelled())?;
        fields.serialize_field("is_uncancelable", &self.is_uncancelable())?;
        fields.serialize_field("deadline", &self.deadline().map(|at| at.as_nanos()))?;
        fields.end()
    }
}

/// Its text form.
impl Serialize for Recording {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Recording {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Recording;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the text of a recording")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Recording, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}
