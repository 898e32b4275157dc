import type { JsonObject } from '../../wire/json.ts';

// Requests in the shapes that Codex 0.169 sends, with short texts. It has three, by the name of the model.

const text = (type: string, value: string) => [{ type, text: value }];

const SHELL = {
  type: 'function',
  name: 'exec_command',
  description: 'Runs a command and returns its output.',
  strict: false,
  parameters: {
    type: 'object',
    properties: { cmd: { type: 'string', description: 'The command.' }, tty: { type: 'boolean' } },
    required: ['cmd'],
    additionalProperties: false,
  },
} as const;

const AGENTS = {
  type: 'namespace',
  name: 'multi_agent_v1',
  description: 'Tools for sub-agents.',
  tools: [
    {
      type: 'function',
      name: 'close_agent',
      description: 'Closes an agent.',
      strict: false,
      parameters: {
        type: 'object',
        properties: { target: { type: 'string' } },
        required: ['target'],
        additionalProperties: false,
      },
    },
  ],
};

export const APPLY_PATCH = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files. This is a free-form tool: do not wrap the patch in JSON.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch" LF' },
};

const TOOL_SEARCH = {
  type: 'tool_search',
  execution: 'client',
  description: 'Searches for tools.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

const WEB_SEARCH = { type: 'web_search', external_web_access: true };

const FIRST_TURN = [
  {
    type: 'message',
    id: 'msg_77ac12b7',
    role: 'developer',
    content: text('input_text', 'You are a coding agent.'),
  },
  {
    type: 'message',
    id: 'msg_01a20367',
    role: 'developer',
    content: [
      ...text('input_text', '<skills_instructions>none</skills_instructions>'),
      ...text('input_text', '<permissions instructions>all</permissions instructions>'),
    ],
  },
  {
    type: 'message',
    id: 'msg_01a20368',
    role: 'user',
    content: text('input_text', '<environment_context>bash</environment_context>'),
  },
  { type: 'message', id: 'msg_01a20369', role: 'user', content: text('input_text', 'Say hello') },
];

const REST = {
  tool_choice: 'auto',
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a20367-7119-7dd2-8ab0-b5ac35d69db0',
  client_metadata: { session_id: '01a20367', turn_id: '01a20368' },
};

/** The first turn of a session with a model that Codex does not know by name. */
export const CODEX_FIRST: JsonObject = {
  model: 'gpt-5-mini',
  stream: true,
  input: FIRST_TURN,
  tools: [SHELL, AGENTS, WEB_SEARCH],
  parallel_tool_calls: true,
  reasoning: { summary: 'auto' },
  ...REST,
};

/** A later turn: the model thought, called three tools at once, and got their results. */
export const CODEX_LATER: JsonObject = {
  ...CODEX_FIRST,
  model: 'gpt-5.5',
  tools: [SHELL, APPLY_PATCH, AGENTS, TOOL_SEARCH, WEB_SEARCH],
  reasoning: { effort: 'medium' },
  text: { verbosity: 'low' },
  input: [
    ...FIRST_TURN,
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: text('summary_text', 'A file has to be made.'),
      content: null,
      encrypted_content: 'gAAAAABo',
    },
    {
      type: 'message',
      id: 'msg_2',
      role: 'assistant',
      content: text('output_text', 'I look around.'),
      phase: 'commentary',
    },
    {
      type: 'function_call',
      status: 'completed',
      id: 'fc_1',
      name: 'exec_command',
      arguments: '{"cmd":"ls"}',
      call_id: 'call_1',
    },
    {
      type: 'custom_tool_call',
      status: 'completed',
      id: 'ctc_1',
      name: 'apply_patch',
      input: '*** Begin Patch\n"\\',
      call_id: 'call_2',
    },
    {
      type: 'function_call',
      status: 'completed',
      id: 'fc_2',
      name: 'close_agent',
      namespace: 'multi_agent_v1',
      arguments: '{"target":"a"}',
      call_id: 'call_3',
    },
    { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'a.txt\n' },
    { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'call_2', output: 'Done.' },
    { type: 'function_call_output', id: 'fco_2', call_id: 'call_3', output: 'closed' },
    { type: 'message', id: 'msg_3', role: 'user', content: text('input_text', 'Go on') },
  ],
};

/** The first turn with a model whose tools stand in the input. */
export const CODEX_INPUT_TOOLS: JsonObject = {
  model: 'gpt-6.1-sol',
  stream: true,
  input: [
    {
      type: 'additional_tools',
      id: 'at_01a20369',
      role: 'developer',
      tools: [
        {
          type: 'namespace',
          name: 'functions',
          description: '',
          tools: [
            { ...APPLY_PATCH, name: 'exec' },
            { ...SHELL, name: 'wait' },
          ],
        },
      ],
    },
    ...FIRST_TURN,
  ],
  parallel_tool_calls: false,
  reasoning: { effort: 'low', context: 'all_turns' },
  text: { verbosity: 'low' },
  ...REST,
};
