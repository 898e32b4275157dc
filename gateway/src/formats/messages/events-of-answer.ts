import { isJsonObject, type JsonObject } from '../../wire/json.ts';

/** A message that came whole, as the events of a stream: for a caller that asked for one. */
export function messagesEvents(answer: JsonObject): string {
  const { content, stop_reason, stop_sequence = null, usage, ...members } = answer;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const begun = { ...members, content: [], stop_reason: null, stop_sequence: null, usage: usage ?? {} };
  return [
    { type: 'message_start', message: begun },
    ...blocks.filter(isJsonObject).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? 'end_turn', stop_sequence },
      usage: usage ?? {},
    },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

function blockEvents(block: JsonObject, index: number) {
  const { start, deltas } = inPieces(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** The start of a block, without what its pieces bring. A block of another kind has no pieces. */
function inPieces(block: JsonObject): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  const { type, text, thinking, signature, input } = block;
  if (type === 'text' && typeof text === 'string')
    return { start: { ...block, text: '' }, deltas: text === '' ? [] : [{ type: 'text_delta', text }] };
  if (type === 'thinking' && typeof thinking === 'string') {
    const signed = typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : [];
    const start = { ...block, thinking: '', signature: '' };
    return { start, deltas: [{ type: 'thinking_delta', thinking }, ...signed] };
  }
  if (type !== 'tool_use' && type !== 'server_tool_use') return { start: block, deltas: [] };
  const json = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return { start: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] };
}
