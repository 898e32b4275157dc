import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codexBody } from '../../testing/codex-body.ts';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { readRequest } from '../read-request.ts';

const callOf = async (body: object | string) => (await callsOf('responses', body))();

async function issueOf(json: string) {
  const reading = await readRequest('responses', Buffer.from(json));
  return reading.kind === 'refused' ? reading.issue : undefined;
}

describe('a call of responses', () => {
  for (const [members, param] of [
    ['', 'input'],
    ['"input":null', 'input'],
    ['"input":[]', 'input'],
    ['"input":7', 'input'],
    ['"input":["Hi"]', 'input'],
    ['"input":[null]', 'input'],
    ['"input":"Hi","instructions":[]', 'instructions'],
    ['"input":"Hi","stream":"true"', 'stream'],
    ['"input":"Hi","background":true', 'background'],
    ['"input":"Hi","background":"yes"', 'background'],
    ['"input":"Hi","max_output_tokens":0', 'max_output_tokens'],
    ['"input":"Hi","max_output_tokens":1.5', 'max_output_tokens'],
    ['"input":"Hi","max_output_tokens":"5"', 'max_output_tokens'],
    ['"input":"Hi","Max_Output_Tokens":5', 'max_output_tokens'],
    ['"input":"Hi","BACKGROUND":true', 'background'],
    ['"input":"Hi","input":"Ho"', 'input'],
    [
      `"input":"Hi","tools":[${Array.from({ length: 33 }, (_, index) => `{"type":"t${index}"}`).join(',')}]`,
      'tools',
    ],
  ] as const) {
    it(`is refused for ${param} in {${members.slice(0, 80)}}`, async () => {
      const issue = await issueOf(`{"model":"m"${members && `,${members}`}}`);
      assert.deepEqual([issue?.status, issue?.param], [400, param]);
    });
  }

  it('takes no input where the provider keeps the prompt, and a background that is not wanted', async () => {
    const call = await callOf({ previous_response_id: 'resp_1', background: false });
    assert.deepEqual(call.uncountableParts, ['previous_response_id']);
    const other = await callOf({ input: [], conversation: { id: 'conv_1' }, prompt: { id: 'pmpt_1' } });
    assert.deepEqual(other.uncountableParts, ['conversation', 'prompt']);
  });

  for (const [before, after] of [
    ['{"model":"m","input":"Hi"}', '{"model":"up","max_output_tokens":9,"input":"Hi"}'],
    [
      ' { "input" : "Hi", "max_output_tokens" : null , "x":9007199254740993, "model":"m"} ',
      ' { "input" : "Hi", "max_output_tokens" : 9 , "x":9007199254740993, "model":"up"} ',
    ],
    // A stream says its usage by itself.
    [
      '{"model":"m","input":"Hi","stream":true,"stream_options":{"include_obfuscation":false}}',
      '{"model":"up","max_output_tokens":9,"input":"Hi","stream":true,"stream_options":{"include_obfuscation":false}}',
    ],
    // Names of other formats are the provider's to judge.
    [
      '{"model":"m","input":"Hi","max_tokens":5}',
      '{"model":"up","max_output_tokens":9,"input":"Hi","max_tokens":5}',
    ],
  ] as const) {
    it(`sends ${before} on byte for byte but for the model and the cap`, async () => {
      assert.equal(upstreamBody('responses', await callOf(before), { outputCap: 9 }), after);
    });
  }

  it('sends a turn of Codex on byte for byte', async () => {
    const call = await callOf(codexBody('m'));
    const expected = codexBody('m').replace('"model":"m"', '"model":"up","max_output_tokens":32000');
    assert.equal(upstreamBody('responses', call, { outputCap: 32_000 }), expected);
    assert.deepEqual(call.toolTypes, ['function', 'custom', 'web_search']);
    assert.deepEqual(call.dispensableTools, ['web_search']);
    assert.deepEqual(call.uncountableParts, []);
    assert.equal(call.outputCap, undefined);
  });

  it('leaves out the search that Codex declares, and nothing else', async () => {
    const call = await callOf(codexBody('m'));
    const target = { outputCap: 9, droppedTools: new Set(['web_search']) };
    const expected = codexBody('m')
      .replace('"model":"m"', '"model":"up","max_output_tokens":9')
      .replace(', {"type":"web_search","external_web_access":false}', '');
    assert.equal(upstreamBody('responses', call, target), expected);
  });

  const FUNCTION = '{"type":"function","name":"f"}';
  const SEARCH = '{"type":"web_search"}';
  for (const [tools, left] of [
    [`[${SEARCH}]`, '[]'],
    [`[ ${SEARCH} , ${SEARCH}\n]`, '[ \n]'],
    [`[ ${SEARCH} , ${FUNCTION} ]`, `[ ${FUNCTION} ]`],
    [`[${FUNCTION},${SEARCH},${FUNCTION}]`, `[${FUNCTION},${FUNCTION}]`],
    [`[${FUNCTION} , ${SEARCH}, ${SEARCH} ]`, `[${FUNCTION} ]`],
    [`[${SEARCH},${FUNCTION},${SEARCH}]`, `[${FUNCTION}]`],
    ['[{"name":"a]}\\"","type":"web_search"},{"type":"custom"}]', '[{"type":"custom"}]'],
  ] as const) {
    it(`leaves ${left} of the tools ${tools}`, async () => {
      const body = (text: string) => `{"model":"m","input":"Hi","tools":${text}}`;
      const droppedTools = new Set(['web_search']);
      const sent = upstreamBody('responses', await callOf(body(tools)), { droppedTools });
      assert.equal(sent, body(left).replace('"m"', '"up"'));
    });
  }

  for (const [title, members] of [
    ['the choice of a tool forces', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }],
    [
      'is among the tools that may be chosen',
      {
        tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] },
      },
    ],
    ['is all that a required call can be', { tools: [{ type: 'web_search' }], tool_choice: 'required' }],
    [
      'stands in the input too',
      {
        input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }],
        tools: [{ type: 'web_search' }],
      },
    ],
    [
      'stands in a namespace too',
      { tools: [{ type: 'web_search' }, { type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] },
    ],
    ['runs code', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
  ] as const) {
    it(`cannot do without a hosted tool that ${title}`, async () => {
      const call = await callOf({ input: 'Hi', ...members });
      assert.deepEqual(call.dispensableTools, []);
      assert.equal(call.layout.tools, undefined);
    });
  }

  for (const [title, members, types] of [
    [
      'in a namespace',
      {
        input: 'Hi',
        tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom' }, { type: 'mcp' }] }],
      },
      ['custom', 'mcp'],
    ],
    [
      'in the input',
      {
        input: [
          { type: 'additional_tools', tools: [{ type: 'namespace', tools: [{ type: 'mcp' }] }] },
          { type: 'tool_search_output', tools: [{ type: 'code_interpreter' }] },
          { type: 'tomorrow', tools: [{ type: 'x' }] },
        ],
      },
      ['mcp', 'code_interpreter', 'x'],
    ],
    [
      'that the client runs, as functions',
      {
        input: 'Hi',
        tools: [
          { type: 'tool_search', execution: 'client' },
          { type: 'local_shell' },
          { type: 'apply_patch' },
        ],
      },
      ['function'],
    ],
    ['that the provider searches', { input: 'Hi', tools: [{ type: 'tool_search' }] }, ['tool_search']],
  ] as const) {
    it(`has the types of tools ${title}`, async () => {
      assert.deepEqual((await callOf(members)).toolTypes, types);
    });
  }

  for (const [title, members, texts, overhead, uncountable] of [
    [
      'tools in the input',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function' }] }] },
      ['[{"type":"function"}]'],
      7,
      [],
    ],
    ['text', { input: 'Hi' }, ['Hi'], 7, []],
    ['instructions', { input: 'Hi', instructions: 'Be short.' }, ['Hi', 'Be short.'], 11, []],
    [
      'messages, their type left out or not',
      {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'Ho' }] },
        ],
      },
      ['Hi', 'Ho'],
      11 + 2,
      [],
    ],
    [
      'pictures, files and sound',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look:' },
              { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(10_000)}` },
              { type: 'input_file', file_data: 'A'.repeat(10_000) },
              { type: 'input_audio', input_audio: { data: 'A'.repeat(10_000) } },
            ],
          },
        ],
      },
      ['Look:'],
      7 + 2_000 + 20_000 + 4_000,
      ['input_image', 'input_file', 'input_audio'],
    ],
    [
      'the calls of tools and what came of them',
      {
        input: [
          {
            type: 'function_call',
            id: 'fc_1',
            call_id: 'c',
            name: 'f',
            arguments: '{}',
            status: 'completed',
          },
          { type: 'function_call_output', call_id: 'c', output: 'none' },
          { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'x' },
          { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'y' }] },
          { type: 'local_shell_call_output', output: [{ stdout: 'z', exit_code: 0 }] },
        ],
      },
      ['c', 'f', '{}', 'c', 'none', 'd', 'g', 'x', 'd', 'y', '{"stdout":"z","exit_code":0}'],
      3 + 5 * 4 + 1,
      [],
    ],
    [
      'a picture that a tool made',
      { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image' }] }] },
      ['c'],
      7 + 2_000,
      ['input_image'],
    ],
    [
      'sealed reasoning',
      {
        input: [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 'Hm' }],
            encrypted_content: 'A'.repeat(300),
          },
        ],
      },
      ['Hm'],
      7 + 1 + 100,
      [],
    ],
    [
      'what only the provider knows',
      {
        input: [
          { type: 'item_reference', id: 'msg_1' },
          { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'q' } },
          { type: 'image_generation_call', result: 'A'.repeat(10_000) },
        ],
      },
      ['item_reference', 'web_search_call', '{"type":"search","query":"q"}', 'type image_generation_call'],
      3 + 3 * 4 + 2 + 1 + 2_000,
      ['item_reference', 'web_search_call', 'image_generation_call'],
    ],
    [
      'tools and the format of the text',
      { input: 'Hi', tools: [{ type: 'function' }], text: { format: { type: 'text' } } },
      ['Hi', '[{"type":"function"}]', '{"format":{"type":"text"}}'],
      7,
      [],
    ],
  ] as const) {
    it(`is sized by what a model reads: ${title}`, async () => {
      const call = await callOf(members);
      assert.equal(call.promptTokens, overhead + (await countTokens(texts)));
      assert.deepEqual(call.uncountableParts, uncountable);
    });
  }
});
