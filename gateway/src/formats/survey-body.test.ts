import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import type { Surface } from '@gatehouse/contract';
import { RandomJson } from '../testing/random-json.ts';
import { parseBody, surveyBody } from './parse-body.ts';
import { readRequest } from './read-request.ts';

const read = (surface: Surface, json: string) => readRequest(surface, Buffer.from(json));
const chat = (members: string) => `{"model":"m","messages":[{"role":"user","content":"Hi"}],${members}}`;
const ITEM = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}';

describe('a member that stands twice', () => {
  for (const [surface, json, path] of [
    ['chat', '{"model":"m","messages":[{"role":"user","role":"system","content":"Hi"}]}', 'messages[0].role'],
    [
      'chat',
      '{"model":"m","messages":[{},{"content":[{"type":"image_url","ty\\u0070e":"text","text":""}]}]}',
      'messages[1].content[0].type',
    ],
    ['chat', chat('"tools":[{"type":"function"},{"type":"web_search","type":"function"}]'), 'tools[1].type'],
    ['chat', chat('"x":{"a":[[{"b":1}],[{"b":1,"c":{"b":1},"b":1}]]}'), 'x.a[1][0].b'],
    ['chat', chat('"x":{"":1,"":2}'), 'x.'],
    ['chat', chat('"x":{"__proto__":1,"__proto__":2}'), 'x.__proto__'],
    ['chat', chat('"x":{"1":1,"1":2}'), 'x.1'],
    [
      'chat',
      chat('"response_format":{"json_schema":{"schema":{"type":"a","type":"b"}}}'),
      'response_format.json_schema.schema.type',
    ],
    [
      'messages',
      '{"model":"m","max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1,"budget_tokens":9},"messages":[{}]}',
      'thinking.budget_tokens',
    ],
    [
      'messages',
      '{"model":"m","messages":[{"content":[{"type":"tool_use","input":{"a":1,"a":2}}]}]}',
      'messages[0].content[0].input.a',
    ],
    ['responses', '{"model":"m","input":[{"role":"user","content":"a","content":"b"}]}', 'input[0].content'],
    ['responses', `{"model":"m","input":[${ITEM},${ITEM.replace(/}$/, ',"name":"g"}')}]}`, 'input[1].name'],
    ['embeddings', '{"model":"m","input":"a","x":{"a":1,"a":1}}', 'x.a'],
    ['completions', '{"model":"m","prompt":"a","x":[{"a":1,"a":1}]}', 'x[0].a'],
  ] as const) {
    it(`is refused by its path: ${path}`, async () => {
      const reading = await read(surface, json);
      assert.ok(reading.kind === 'refused');
      assert.deepEqual(reading.issue, { status: 400, message: `${path} occurs twice.`, param: path });
    });
  }

  it('is named by the end of its path where that is long', async () => {
    const deep = `${`{"${'n'.repeat(90)}":`.repeat(200)}{"a":1,"a":2}${'}'.repeat(200)}`;
    const reading = await read('chat', chat(`"x":${deep}`));
    assert.ok(reading.kind === 'refused');
    assert.match(reading.issue.message, /^….{256} occurs twice\.$/);
  });

  it('is found in whatever spelling, and nothing else is taken for one', () => {
    for (const seed of seedsUpTo(2_000)) {
      const random = new RandomJson(seed);
      const names = random.shuffled(['a', 'b', 'c', 'd']);
      const members = names.map((name) => [name, random.value()] as const);
      const body = (json: string) => parseBody(Buffer.from(`{"x":[${random.space()}${json}],"y":{"a":{}}}`));
      assert.doesNotThrow(() => surveyBody(body(random.object(members))), String(seed));
      const twice = random.object([...members, [names[0] ?? '', random.value()]]);
      assert.throws(() => surveyBody(body(twice)), /occurs twice/, String(seed));
    }
  });

  it('takes a body of the largest structure less than a second to be found', async () => {
    const json = chat(`"x":[${'{"a":1},'.repeat(99_000)}{"a":1,"a":2}]`);
    const startedAt = process.cpuUsage();
    const reading = await read('chat', json);
    const { user, system } = process.cpuUsage(startedAt);
    assert.ok(reading.kind === 'refused' && reading.issue.param === 'x[99000].a');
    assert.ok((user + system) / 1e6 < 1, `${(user + system) / 1e6} s`);
  });
});

describe('a reference to what a provider keeps', () => {
  const references = (json: string) => surveyBody(parseBody(Buffer.from(json)));
  for (const [json, found] of [
    ['{"messages":[{"content":[{"type":"file","file":{"file_id":"f"}}]}]}', ['file_id']],
    ['{"messages":[{"content":[{"type":"file","file":{"File_ID":"f"}}]}]}', ['file_id']],
    ['{"messages":[{"content":[{"source":{"type":"file","file_id":"f"}}]}]}', ['file_id']],
    [
      '{"input":[{"content":[{"type":"input_file","file_id":"f"},{"type":"input_image","file_id":"g"}]}]}',
      ['file_id'],
    ],
    [
      '{"input":[{"type":"computer_call_output","output":{"type":"computer_screenshot","file_id":"f"}}]}',
      ['file_id'],
    ],
    ['{"tools":[{"type":"file_search","vector_store_ids":["v"]}]}', ['vector_store_ids']],
    ['{"tools":[{"type":"code_interpreter","container":"cntr_1"}]}', ['container']],
    ['{"tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["f"]}}]}', ['file_ids']],
    [
      '{"tools":[{"type":"shell","environment":{"type":"container_reference","container_id":"c"}}]}',
      ['container_id'],
    ],
    [
      '{"prompt":{"id":"pmpt_1","variables":{"a":{"type":"input_file","file_id":"f"}}}}',
      ['prompt.id', 'file_id'],
    ],
    ['{"messages":[{"role":"assistant","audio":{"id":"a"}}]}', ['audio.id']],
    ['{"extra_body":{"google":{"cached_content":"c"}}}', ['cached_content']],
    ['{"cachedContent":"c"}', ['cachedcontent']],
    // Nothing is named.
    ['{"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]}', []],
    ['{"file_id":null,"file_ids":[],"cached_content":"","prompt":"a","audio":{"voice":"v"}}', []],
    // These names are the caller's own.
    ['{"tools":[{"function":{"parameters":{"properties":{"file_id":{"type":"string"}}}}}]}', []],
    ['{"tools":[{"input_schema":{"properties":{"container_id":{"type":"string"}}}}]}', []],
    ['{"messages":[{"content":[{"type":"tool_use","input":{"file_id":"f","a":[{"file_ids":["f"]}]}}]}]}', []],
    ['{"metadata":{"file_id":"f"}}', []],
  ] as const) {
    it(`is found at any depth: ${json}`, () => {
      assert.deepEqual(references(json).toSorted(), [...found].toSorted());
    });
  }
});
