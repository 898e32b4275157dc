import type { Surface } from '@gatehouse/contract';
import { isJsonObject, type JsonObject } from '../wire/json.ts';

// An answer in the provider's own words. The gateway's readers mend what providers get wrong; a check names it.

/** A tool call as it was said. */
export interface SaidCall {
  id: string;
  name: string;
  /** As text; undefined where they came as something else. */
  arguments: string | undefined;
}

export interface Said {
  /** Why it ended, as the provider puts it last; undefined where it does not say. */
  readonly finish: string | undefined;
  readonly calls: readonly SaidCall[];
}

/** The sum of its tokens, as it says it last. */
export function totalIn(documents: readonly JsonObject[]): number | undefined {
  let total: number | undefined;
  for (const document of documents) {
    const { usage } = isJsonObject(document['response']) ? document['response'] : document;
    const said = isJsonObject(usage) ? usage['total_tokens'] : undefined;
    if (typeof said === 'number') total = said;
  }
  return total;
}

/** The events of a stream, or the one document of an answer that came whole. */
export function saidIn(surface: Surface, documents: readonly JsonObject[]): Said {
  if (surface === 'messages') return saidInMessages(documents);
  if (surface === 'responses') return saidInResponses(documents);
  return saidInChoices(documents);
}

function saidInChoices(documents: readonly JsonObject[]): Said {
  let finish: string | undefined;
  const calls = new Map<unknown, SaidCall>();
  for (const { choices } of documents) {
    const choice = Array.isArray(choices) ? choices.find(isJsonObject) : undefined;
    if (!choice) continue;
    finish = textOf(choice['finish_reason']) ?? finish;
    const part = choice['message'] ?? choice['delta'];
    const said = isJsonObject(part) ? part['tool_calls'] : undefined;
    for (const [at, call] of (Array.isArray(said) ? said : []).filter(isJsonObject).entries()) {
      const { id, function: called } = call;
      const { name, arguments: more } = isJsonObject(called) ? called : {};
      add(calls, call['index'] ?? at, { id: textOf(id), name: textOf(name), more });
    }
  }
  return { finish, calls: [...calls.values()] };
}

function saidInMessages(documents: readonly JsonObject[]): Said {
  let finish: string | undefined;
  const calls = new Map<unknown, SaidCall>();
  const addBlock = (index: unknown, block: unknown, isWhole: boolean) => {
    if (!isJsonObject(block) || block['type'] !== 'tool_use') return;
    const { id, name, input } = block;
    // In a stream the input follows in pieces.
    add(calls, index, { id: textOf(id), name: textOf(name), more: isWhole ? JSON.stringify(input) : '' });
  };
  for (const document of documents) {
    const { delta, content, content_block: block, index } = document;
    finish = textOf(document['stop_reason']) ?? finish;
    for (const [at, one] of (Array.isArray(content) ? content : []).entries()) addBlock(at, one, true);
    addBlock(index, block, false);
    if (!isJsonObject(delta)) continue;
    finish = textOf(delta['stop_reason']) ?? finish;
    if (delta['type'] === 'input_json_delta') add(calls, index, { more: delta['partial_json'] });
  }
  return { finish, calls: [...calls.values()] };
}

function saidInResponses(documents: readonly JsonObject[]): Said {
  let finish: string | undefined;
  const calls = new Map<unknown, SaidCall>();
  for (const document of documents) {
    const response = isJsonObject(document['response']) ? document['response'] : document;
    const { status, output } = response;
    if (typeof status === 'string' && status !== 'in_progress' && status !== 'queued') finish = status;
    for (const item of (Array.isArray(output) ? output : []).filter(isJsonObject)) {
      if (item['type'] !== 'function_call') continue;
      const { id, call_id, name, arguments: whole } = item;
      const key = id ?? call_id;
      // The last event repeats what the others have said.
      calls.delete(key);
      add(calls, key, { id: textOf(call_id), name: textOf(name), more: whole });
    }
  }
  return { finish, calls: [...calls.values()] };
}

function add(
  calls: Map<unknown, SaidCall>,
  key: unknown,
  { id, name, more }: { id?: string | undefined; name?: string | undefined; more: unknown },
): void {
  const call = calls.get(key) ?? { id: '', name: '', arguments: '' };
  calls.set(key, call);
  call.id ||= id ?? '';
  call.name ||= name ?? '';
  if (more === undefined || more === null) return;
  call.arguments =
    typeof more === 'string' && call.arguments !== undefined ? call.arguments + more : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
