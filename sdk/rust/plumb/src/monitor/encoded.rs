//! Calls whose message is encoded already.
//!
//! A program may have thousands of calls in the air at once. A call keeps its message, in several places, and a buffer to
//! encode it in, until the connection has taken it: this keeps both small.

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::BufMut as _;
use tonic::client::Grpc;
use tonic::codec::{BufferSettings, Codec, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_prost::{ProstCodec, ProstDecoder};

use crate::protocol::MAX_MESSAGE_SIZE;

/// Size of the first buffer, in bytes, and how many bytes are sent at once.
const BUFFER: usize = 512;
const SENT_AT_ONCE: usize = 32 * 1024;

/// Calls the method at `path` with an encoded message.
pub(crate) async fn unary<R: Message + Default + Send + 'static>(
    channel: Channel,
    path: &'static str,
    message: Vec<u8>,
) -> Result<R, Status> {
    let mut client = Grpc::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(usize::MAX);
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(format!("the connection is gone: {error}")))?;
    let path = PathAndQuery::from_static(path);
    let response = client.unary(Request::new(message), path, Encoded(PhantomData));
    Ok(response.await?.into_inner())
}

/// Takes encoded messages, and decodes the answers.
struct Encoded<R>(PhantomData<fn() -> R>);

impl<R: Message + Default + Send + 'static> Codec for Encoded<R> {
    type Encode = Vec<u8>;
    type Decode = R;
    type Encoder = Copied;
    type Decoder = ProstDecoder<R>;

    fn encoder(&mut self) -> Copied {
        Copied
    }

    fn decoder(&mut self) -> ProstDecoder<R> {
        ProstCodec::<(), R>::raw_decoder(buffers())
    }
}

fn buffers() -> BufferSettings {
    BufferSettings::new(BUFFER, SENT_AT_ONCE)
}

/// Copies messages as they are.
struct Copied;

impl Encoder for Copied {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}
