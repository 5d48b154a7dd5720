//! Plugins: discovery, processes and clients.
//!
//! This crate knows how plugin executables are found and started, the handshake, and the clients for providers, language
//! hosts, policy packs ([`analyzer`]) and converters. [`Provider`] is the only interface to a provider, whether it is a
//! process or built into the binary; [`LanguageRuntime`] is that of a language host. The crate makes no decisions about
//! resources.
//!
//! Start with [`PluginHost`], which turns a plugin specification into a running provider. [`discovery`] finds the file,
//! [`process`] manages the process, and [`grpc`] is the client.

mod acquire;
pub mod analyzer;
mod converter;
pub mod discovery;
pub mod grpc;
mod host;
pub mod language;
mod output;
mod peers;
pub mod process;
mod provider;
pub mod trace_context;

pub use acquire::{Acquire, AcquireFailure};
pub use analyzer::{
    AnalyzedStack, Analyzer, AnalyzerError, GrpcAnalyzer, PackFactory, PackPlace, PackSources,
    PolicyPack,
};
pub use converter::{
    ConvertedParameter, ConvertedResource, ConvertedState, ConverterError, ConverterMessage,
    GrpcConverter, ProgramToConvert,
};
pub use discovery::{Discovery, PluginKind};
pub use grpc::GrpcProvider;
pub use host::{
    AttachmentError, BuiltinFactory, CommandFactory, DebuggedPlugins, HOST_SOURCE, HostError,
    HostOptions, LanguageFactory, MappingQuery, PluginHost, ResolveError, ServiceAddresses,
    is_repository, parse_attachments,
};
pub use language::{GrpcLanguageHost, LanguageError, LanguageRuntime};
pub use output::{OutputLevel, OutputLine, OutputSink, OutputStream};
pub use peers::own_connections;
pub use provider::{CallContext, ConstructContext, Mapping, Provider, ProviderInfo};
