//! Facts: old and new resource states, and what is known of each URN.
//!
//! [`arena`] keeps all states under indexes; [`urns`] keeps one record per URN, with its [`urn_flags`]. [`identity`] finds the
//! old state that a registration continues, by URN or by alias. [`packages`] has the packages that programs name, [`defaults`]
//! their default providers, and [`made_plan`] the plan that the run makes. [`graph`] answers who depends on whom among the old
//! states, and [`lineage`] who descends from a remote component that is still being made.
//!
//! Facts decide nothing. The other rooms read them, and record here what they have decided.

pub(crate) mod arena;
pub(crate) mod defaults;
pub(crate) mod graph;
pub(crate) mod identity;
pub(crate) mod lineage;
pub(crate) mod made_plan;
pub(crate) mod packages;
pub(crate) mod urn_flags;
pub(crate) mod urns;
