import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import {
  begin,
  callChunk,
  chunk,
  createStreamTranslator,
  eventsIn,
  inShort,
  notesWith,
  streamOf,
  translatedStream,
} from './testing.fixture.ts';

const toMessages = (...events: unknown[]) => translatedStream('chat', 'messages', events);

describe('a chat stream for a messages caller', () => {
  it('begins with the prompt as it was counted here, and ends with what the provider reports', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
    const events = toMessages(
      begin,
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
      { choices: [], usage },
      '[DONE]',
    );
    assert.deepEqual(events[0], {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: 42,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
        },
      },
    });
    assert.deepEqual(events.slice(1), [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: {
          input_tokens: 6,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 4,
          output_tokens: 5,
        },
      },
      { type: 'message_stop' },
    ]);
  });

  it('has a block for each kind of what is said', () => {
    const events = toMessages(
      begin,
      chunk({ reasoning_content: 'Hm' }),
      chunk({ reasoning: '.' }),
      chunk({ content: 'A' }),
      chunk({ content: '' }),
      chunk({ content: 'B' }),
      callChunk(0, { id: 'a', function: { name: 'f', arguments: '' } }),
      callChunk(0, { function: { arguments: '{"x' } }),
      callChunk(0, { function: { arguments: '":1}' } }),
      chunk({}, 'tool_calls'),
    );
    assert.deepEqual(inShort(events).slice(1), [
      'content_block_start 0 "" ""',
      'content_block_delta 0 "Hm"',
      'content_block_delta 0 "."',
      'content_block_stop 0',
      'content_block_start 1 ""',
      'content_block_delta 1 "A"',
      'content_block_delta 1 "B"',
      'content_block_stop 1',
      'content_block_start 2 "f"',
      'content_block_delta 2 "{\\"x"',
      'content_block_delta 2 "\\":1}"',
      'content_block_stop 2',
      'message_delta  "tool_use"',
      'message_stop',
    ]);
  });

  it('passes sequential calls on as they come, and puts interleaved ones in order', () => {
    const call = (index: number, id: string) =>
      callChunk(index, { id, function: { name: id, arguments: '' } });
    const piece = (index: number, text: string) => callChunk(index, { function: { arguments: text } });
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const push = (...events: unknown[]) => inShort(eventsIn(translator.push(streamOf(events))));
    push(begin, call(0, 'a'), piece(0, '{"x":[1,"}"]'));
    // The first is not complete: the second waits, however much of it has come.
    assert.deepEqual(push(call(1, 'b'), piece(1, '{"z":1}'), chunk({ content: 'late' })), []);
    // Beside what was generated, which is kept to be counted: two bytes a character.
    assert.ok(translator.keptBytes > 2 * 20);
    assert.deepEqual(push(piece(0, '} ')), [
      'content_block_delta 0 "}"',
      'content_block_stop 0',
      'content_block_start 1 "b"',
      'content_block_delta 1 "{\\"z\\":1}"',
      'content_block_stop 1',
      'content_block_start 2 ""',
      'content_block_delta 2 "late"',
    ]);
    assert.deepEqual(push(call(2, 'c')), ['content_block_stop 2', 'content_block_start 3 "c"']);
    // Cut off by the output cap.
    assert.deepEqual(push(piece(2, '{"y":'), chunk({}, 'length')), ['content_block_delta 3 "{\\"y\\":"']);
    assert.deepEqual(inShort(eventsIn(translator.end())), [
      'content_block_stop 3',
      'message_delta  "max_tokens"',
      'message_stop',
    ]);
    assert.equal(translator.keptBytes, 2 * 33);
  });

  for (const [pieces, input] of [
    [['{}', '{"a":1}'], { a: 1 }],
    [['{"a":1}', '{"a":1}'], { a: 1 }],
    [['{}'], {}],
    [['null'], {}],
    [['  {"a"', ':"{"', '}  ', 'x'], { a: '{' }],
    [['{"a":"\\"}', '"}'], { a: '"}' }],
    [['no', ' "json"\n'], { invalid_arguments: 'no "json"\n' }],
    [['\ud83d', '\ude00'], { invalid_arguments: '😀' }],
    [[' ', '[1]'], { invalid_arguments: '[1]' }],
    [[], {}],
    [[' '], {}],
  ] as const) {
    it(`makes ${JSON.stringify(pieces)} the input ${JSON.stringify(input)}`, () => {
      const events = toMessages(
        begin,
        callChunk(0, { id: 'a', function: { name: 'f' } }),
        ...pieces.map((text) => callChunk(0, { function: { arguments: text } })),
        chunk({}, 'stop'),
      ) as { delta?: { partial_json?: string; stop_reason?: string } }[];
      const json = events.map((event) => event.delta?.partial_json ?? '').join('');
      assert.deepEqual(JSON.parse(json), input);
      assert.equal(events.at(-2)?.delta?.stop_reason, 'tool_use');
    });
  }

  it('takes the names of the second chunk where the first says nothing', () => {
    const silent = { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] };
    const [first] = toMessages(silent, chunk({ content: 'Hi' }), chunk({}, 'stop')) as { message?: object }[];
    const named = toMessages(chunk({ content: 'Hi' }), chunk({}, 'stop')) as { message?: object }[];
    assert.deepEqual(first, named[0]);
  });

  it('tells calls apart by their ids where the provider gives them one index, or none', () => {
    const call = (members: object) => chunk({ tool_calls: [{ type: 'function', ...members }] });
    for (const index of [{ index: 0 }, {}]) {
      const events = toMessages(
        begin,
        call({ ...index, id: 'a', function: { name: 'f', arguments: '{' } }),
        call({ ...index, id: 'a', function: { arguments: '}' } }),
        call({ ...index, id: 'b', function: { name: 'g', arguments: '{"b":' } }),
        call({ ...index, function: { arguments: '2}' } }),
        chunk({}, 'tool_calls'),
      );
      assert.deepEqual(inShort(events).slice(1, -2), [
        'content_block_start 0 "f"',
        'content_block_delta 0 "{"',
        'content_block_delta 0 "}"',
        'content_block_stop 0',
        'content_block_start 1 "g"',
        'content_block_delta 1 "{\\"b\\":"',
        'content_block_delta 1 "2}"',
        'content_block_stop 1',
      ]);
    }
  });

  it('waits for the name of a call, and leaves out a call that never gets one', () => {
    const events = toMessages(
      begin,
      callChunk(0, { id: 'a', function: { arguments: '{"x":' } }),
      callChunk(0, { function: { name: 'f', arguments: '1}' } }),
      callChunk(1, { id: 'b', function: { arguments: '{}' } }),
      chunk({}, 'tool_calls'),
    );
    assert.deepEqual(inShort(events).slice(1, -2), [
      'content_block_start 0 "f"',
      'content_block_delta 0 "{\\"x\\":"',
      'content_block_delta 0 "1}"',
      'content_block_stop 0',
    ]);
  });

  it('carries what the provider wants back', () => {
    const details = (members: object) =>
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...members }] });
    const events = toMessages(
      begin,
      details({ text: 'H' }),
      details({ text: 'm' }),
      details({ signature: 'x', format: 'other-v1' }),
      callChunk(0, {
        id: 'a',
        function: { name: 'f', arguments: '{}' },
        extra_content: { google: { s: 1 } },
      }),
      chunk({}, 'tool_calls'),
    );
    const types = inShort(events)
      .slice(1, -2)
      .map((event) => event.replaceAll(/gatehouse[^"]*/g, 'sealed'));
    assert.deepEqual(types, [
      'content_block_start 0 "" ""',
      'content_block_delta 0 "H"',
      'content_block_delta 0 "m"',
      'content_block_delta 0 "sealed"',
      'content_block_stop 0',
      'content_block_start 1 "sealed"',
      'content_block_stop 1',
      'content_block_start 2 "f"',
      'content_block_delta 2 "{}"',
      'content_block_stop 2',
    ]);
  });

  it('ends without usage where the provider gave none', () => {
    const [delta] = toMessages(begin, chunk({ content: 'x' }), chunk({}, 'stop'), '[DONE]').slice(
      -2,
    ) as JsonObject[];
    const usage = delta?.['usage'] as JsonObject;
    assert.deepEqual([usage['input_tokens'], usage['output_tokens']], [42, 0]);
  });

  it('ends with an error where the end mark comes within the arguments of a call, without a reason', () => {
    const call = (written: string) => callChunk(0, { id: 'a', function: { name: 'f', arguments: written } });
    assert.equal(inShort(toMessages(begin, call('{"a": "hel'), '[DONE]')).at(-1), 'error');
    assert.equal(inShort(toMessages(begin, call('{"a": 1}'), '[DONE]')).at(-1), 'message_stop');
  });

  it('ends where the provider’s end mark comes without a reason', () => {
    const events = inShort(toMessages(begin, chunk({ content: 'x' }), '[DONE]'));
    assert.deepEqual(events.slice(-3), ['content_block_stop 0', 'message_delta  "end_turn"', 'message_stop']);
  });

  it('does not end where the provider stopped in the middle', () => {
    const events = inShort(toMessages(begin, chunk({ content: 'x' })));
    assert.deepEqual(events.at(-1), 'content_block_delta 0 "x"');
  });

  it('ends with the provider’s error, and nothing after it', () => {
    const events = toMessages(
      begin,
      chunk({ content: 'x' }),
      { error: { message: 'Overloaded', type: 'overloaded_error' } },
      chunk({ content: 'y' }, 'stop'),
      '[DONE]',
    );
    assert.deepEqual(events.at(-1), {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
    const inChoice = {
      choices: [{ delta: {}, finish_reason: 'error', error: { code: 502, message: 'Bad' } }],
    };
    assert.deepEqual(toMessages(begin, inChoice).at(-1), {
      type: 'error',
      error: { type: 'api_error', message: 'Bad' },
    });
  });

  for (const [kind, type] of [
    ['server_error', 'api_error'],
    ['rate_limit_exceeded', 'rate_limit_error'],
    ['rate_limit_error', 'rate_limit_error'],
  ]) {
    it(`says ${type} where the provider's error is a ${kind}`, () => {
      const events = toMessages(begin, { error: { message: 'Bad', type: kind } });
      assert.deepEqual(events.at(-1), { type: 'error', error: { type, message: 'Bad' } });
    });
  }

  for (const stated of [{ type: 'tokens', code: 'rate_limit_exceeded' }, { code: 429 }]) {
    it(`says rate_limit_error for ${JSON.stringify(stated)}`, () => {
      const error = { type: 'rate_limit_error', message: 'Bad' };
      assert.deepEqual(toMessages(begin, { error: { message: 'Bad', ...stated } }).at(-1), {
        type: 'error',
        error,
      });
    });
  }

  it('ends with an error at an event that was cut: what it said is lost', () => {
    const bytes = Buffer.from(`${streamOf([begin])}data: {"choices":[{"delta":{"cont   \n\n`);
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const told = [
      ...eventsIn(translator.push(bytes)),
      ...eventsIn(translator.push(Buffer.from(streamOf([chunk({}, 'stop')])))),
    ];
    assert.deepEqual(told.slice(1), [
      { type: 'error', error: { type: 'api_error', message: 'The provider sent an event that is no JSON.' } },
    ]);
  });

  it('reads the first choice only, and comments and what is no JSON not at all', () => {
    const other = {
      ...chunk({ content: 'no' }),
      choices: [{ index: 0, delta: { content: 'x' } }, { delta: { content: 'no' } }],
    };
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const bytes = Buffer.from(
      `: comment\n\n${streamOf([begin])}data: heartbeat\n\nevent: x\n\n${streamOf([other])}`,
    );
    assert.deepEqual(inShort(eventsIn(translator.push(bytes))).slice(1), [
      'content_block_start 0 ""',
      'content_block_delta 0 "x"',
    ]);
    assert.equal(translator.ping().toString(), 'event: ping\ndata: {"type":"ping"}\n\n');
  });
});
