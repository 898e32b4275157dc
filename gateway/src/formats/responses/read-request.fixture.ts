import type { JsonObject } from '../../wire/json.ts';
import { Losses } from '../translation/losses.ts';
import { readRequest } from './read-request.ts';

export function read(body: JsonObject) {
  const losses = new Losses('responses', 'chat');
  return { conversation: readRequest(body, losses), dropped: losses.dropped };
}

/** A body with these members; its conversation. */
export function readWith(members: JsonObject) {
  return read({ model: 'm', input: 'Hi', ...members }).conversation;
}

export function turnsOf(...input: JsonObject[]) {
  return readWith({ input }).turns;
}

export const text = (value: string) => ({ type: 'text', text: value });
