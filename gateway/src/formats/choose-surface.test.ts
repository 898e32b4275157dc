import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Surface } from '@gatehouse/contract';
import { chooseSurface } from './choose-surface.ts';

const wanted = (format: Surface, toolTypes: readonly string[] = [], members: readonly string[] = []) => ({
  format,
  toolTypes,
  members: new Map(members.map((name) => [name, undefined])),
});

describe('the surface that a provider is asked for', () => {
  for (const [endpoint, surfaces, request, chosen] of [
    ['chat', ['messages', 'chat', 'responses'], undefined, 'chat'],
    ['chat', ['messages', 'responses'], undefined, 'messages'],
    ['chat', ['responses'], undefined, 'responses'],
    ['responses', ['chat', 'messages'], undefined, 'chat'],
    ['responses', ['messages'], wanted('responses', ['function']), 'messages'],
    ['messages', ['chat', 'responses'], undefined, 'chat'],
    ['messages', ['chat', 'responses'], wanted('messages'), 'chat'],
    ['messages', ['chat', 'responses'], wanted('messages', ['custom']), 'responses'],
    ['messages', ['chat', 'responses'], wanted('messages', ['custom'], ['stop_sequences']), 'chat'],
    ['messages', ['chat'], wanted('messages', ['custom']), 'chat'],
    ['messages', ['messages', 'responses'], wanted('messages', ['custom']), 'messages'],
    ['chat', ['chat'], wanted('responses', ['function']), 'chat'],
    ['completions', ['chat'], undefined, undefined],
    ['count_tokens', ['chat', 'messages'], undefined, undefined],
    ['chat', ['embeddings', 'completions'], undefined, undefined],
  ] as const) {
    const tools = request?.toolTypes.length ? ' with tools' : '';
    const stop = request?.members.size ? ' and stop sequences' : '';
    it(`is ${chosen} for ${endpoint}${tools}${stop} where it has ${surfaces.join(', ')}`, () => {
      assert.equal(chooseSurface(endpoint, new Set<Surface>(surfaces), request), chosen);
    });
  }
});
