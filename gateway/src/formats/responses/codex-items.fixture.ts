import type { JsonObject } from '../../wire/json.ts';
import { ID, type Translated } from './translated-stream.fixture.ts';

// The items that Codex gets, and what it goes by in a stream.

export const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"hé\\"\n*** End Patch\n';
export const shell = { cmd: 'ls' };

export const message = (index: number, text: string) => ({
  id: `msg_${ID}_${index}`,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
export const functionCall = (index: number, callId: string, args: JsonObject, members: JsonObject = {}) => ({
  id: `fc_${ID}_${index}`,
  type: 'function_call',
  status: 'completed',
  call_id: callId,
  name: 'exec_command',
  arguments: JSON.stringify(args),
  ...members,
});
export const patchCall = (index: number, callId: string) => ({
  id: `ctc_${ID}_${index}`,
  type: 'custom_tool_call',
  status: 'completed',
  call_id: callId,
  name: 'apply_patch',
  input: PATCH,
});
export const closeCall = (index: number, callId: string) =>
  functionCall(index, callId, { target: 'a' }, { name: 'close_agent', namespace: 'multi_agent_v1' });

export function last({ events }: Translated): JsonObject {
  return events.at(-1)?.['response'] as JsonObject;
}

export function typesOf({ events }: Translated): string[] {
  return events.map(({ type }) => String(type).replace('response.', ''));
}

/** The items that Codex reads: the whole items, in the order in which they ended. */
export function itemsDone({ events }: Translated): unknown[] {
  return events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
}

export function joined({ events }: Translated, type: string): string {
  return events.flatMap((event) => (event['type'] === type ? [event['delta']] : [])).join('');
}
