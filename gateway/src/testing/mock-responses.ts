// What a provider that speaks the Responses API answers, for tests.

export interface ResponsesUsage {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly reasoning?: number;
}

export function responsesUsage({ input, output, cached = 0, reasoning = 0 }: ResponsesUsage): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

export function messageItem(text: string): object {
  return {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
  };
}

/** A whole response; members replace those of one that was completed. */
export function response(output: readonly object[], usage?: ResponsesUsage, members: object = {}): object {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'upstream-model-2026-01-01',
    output,
    usage: usage ? responsesUsage(usage) : null,
    metadata: {},
    ...members,
  };
}

/** One event of a stream, with its blank line. */
export function event(type: string, members: object = {}, ending = '\n\n'): string {
  const newline = ending.slice(0, ending.length / 2);
  return `event: ${type}${newline}data: ${JSON.stringify({ type, sequence_number: 0, ...members })}${ending}`;
}

export function textDelta(delta: string, output_index = 0): string {
  return event('response.output_text.delta', { item_id: 'msg_1', output_index, content_index: 0, delta });
}

/** The events of a message that comes in these pieces, up to the last of the stream. */
export function messageEvents(...pieces: readonly string[]): string[] {
  const text = pieces.join('');
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', annotations: [], text: '' };
  return [
    event('response.created', { response: response([], undefined, { status: 'in_progress' }) }),
    event('response.output_item.added', { output_index: 0, item: { ...messageItem(''), content: [] } }),
    event('response.content_part.added', { ...place, part }),
    ...pieces.map((piece) => textDelta(piece)),
    event('response.output_text.done', { ...place, text }),
    event('response.content_part.done', { ...place, part: { ...part, text } }),
    event('response.output_item.done', { output_index: 0, item: messageItem(text) }),
  ];
}

export function completed(output: readonly object[], usage?: ResponsesUsage): string {
  return event('response.completed', { response: response(output, usage) });
}
