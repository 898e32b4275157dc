import { isJsonObject, type JsonObject } from '../../wire/json.ts';

const ENDS: Readonly<Record<string, string>> = {
  incomplete: 'response.incomplete',
  failed: 'response.failed',
};

/** A response that came whole, as the events of a stream: for a caller that asked for one. */
export function responsesEvents(response: JsonObject): string {
  const { output, status } = response;
  const items: readonly unknown[] = Array.isArray(output) ? output : [];
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.filter(isJsonObject).flatMap(itemEvents),
    { type: ENDS[String(status)] ?? 'response.completed', response },
  ]
    .map(({ type, ...members }, sequence_number) => {
      const data = JSON.stringify({ type, sequence_number, ...members });
      return `event: ${type}\ndata: ${data}\n\n`;
    })
    .join('');
}

type ItemEvent = JsonObject & { readonly type: string };

function itemEvents(item: JsonObject, output_index: number): readonly ItemEvent[] {
  const { type, content } = item;
  const place = { item_id: item['id'], output_index };
  const parts: readonly unknown[] = type === 'message' && Array.isArray(content) ? content : [];
  const pieces = type === 'function_call' ? argumentEvents(item, place) : [];
  return [
    { type: 'response.output_item.added', output_index, item: begunItem(item) },
    ...parts
      .filter(isJsonObject)
      .flatMap((part, content_index) => partEvents(part, { ...place, content_index })),
    ...pieces,
    { type: 'response.output_item.done', output_index, item },
  ];
}

function begunItem(item: JsonObject): JsonObject {
  if (item['type'] === 'message') return { ...item, status: 'in_progress', content: [] };
  return item['type'] === 'function_call' ? { ...item, status: 'in_progress', arguments: '' } : item;
}

function argumentEvents({ arguments: written, name }: JsonObject, place: JsonObject): readonly ItemEvent[] {
  if (typeof written !== 'string') return [];
  return [
    { type: 'response.function_call_arguments.delta', ...place, delta: written },
    { type: 'response.function_call_arguments.done', ...place, name, arguments: written },
  ];
}

/** A part whose text comes in one piece. One of another kind comes whole. */
function partEvents(part: JsonObject, place: JsonObject): readonly ItemEvent[] {
  const [kind, member] = part['type'] === 'refusal' ? ['refusal', 'refusal'] : ['output_text', 'text'];
  const text = part[member];
  const begun = typeof text === 'string' ? { ...part, [member]: '' } : part;
  return [
    { type: 'response.content_part.added', ...place, part: begun },
    ...(typeof text === 'string'
      ? [
          { type: `response.${kind}.delta`, ...place, delta: text },
          { type: `response.${kind}.done`, ...place, [member]: text },
        ]
      : []),
    { type: 'response.content_part.done', ...place, part },
  ];
}
