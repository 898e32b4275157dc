import type { GatewayError } from '../../errors/gateway-error.ts';

/**
 * The end of a stream that the gateway ends. OpenAI's SDKs and the AI SDK read the `error` event; Codex goes by
 * `response.failed` and takes a stream without it for a broken connection.
 */
export function responsesStreamError(error: GatewayError, requestId: string): Buffer {
  const { type, code, message } = error;
  const failure = { type, code, message, param: null };
  return Buffer.from(
    [
      { type: 'error', sequence_number: 0, code, message, param: null, error: failure },
      {
        type: 'response.failed',
        sequence_number: 0,
        response: {
          id: `resp_${requestId.replaceAll('-', '')}`,
          object: 'response',
          status: 'failed',
          error: { code, message },
          incomplete_details: null,
          output: [],
          usage: null,
        },
      },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  );
}
