//! Programs made of the PCL in `tests/programs`.

mod corpus;
mod golden;
mod properties;
