// A body of the size and the form that Claude Code sends on every turn. The text is generated: only its form matters.

const TOOLS = 25;
const SENTENCE = 'Use the tool for its purpose only, with "quoted" words, C:\\paths, émigré ☕ and tabs\t. ';

/** About 85 KB of compact JSON, as `JSON.stringify` writes it. Members replace the defaults. */
export function claudeCodeBody(members: object = {}): string {
  const cacheControl = { type: 'ephemeral' };
  const sessionId = '1a2b3c4d-0000-4000-8000-000000000000';
  return JSON.stringify({
    model: 'claude-opus-4-8',
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: '<system-reminder>\nThe working directory is /project.\n</system-reminder>\n',
          },
          { type: 'text', text: 'List the files here.', cache_control: cacheControl },
        ],
      },
      {
        role: 'assistant',
        content: [
          {
            type: 'thinking',
            thinking: 'The user wants a listing.',
            signature: 'EqQBCkYIBxgCKkA'.repeat(20),
          },
          { type: 'tool_use', id: 'toolu_01', name: 'Tool0', input: { command: 'ls -la', timeout: 120_000 } },
        ],
      },
      { role: 'system', content: 'The file list changed since it was read.' },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_01',
            content: [{ type: 'text', text: `README.md\n${'src/file.ts\n'.repeat(100)}` }],
            is_error: false,
            cache_control: cacheControl,
          },
        ],
      },
    ],
    system: [
      { type: 'text', text: 'x-billing-header: cc_version=2.1.197; cc_entrypoint=cli;' },
      { type: 'text', text: 'You are an agent for the command line.', cache_control: cacheControl },
      {
        type: 'text',
        text: SENTENCE.repeat(160),
        cache_control: { type: 'ephemeral', ttl: '1h', scope: 'global' },
      },
    ],
    tools: Array.from({ length: TOOLS }, (_, index) => ({
      name: `Tool${index}`,
      description: SENTENCE.repeat(27),
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { command: { type: 'string' }, timeout: { type: 'number', maximum: 600_000 } },
        required: ['command'],
        additionalProperties: false,
      },
      ...(index === TOOLS - 1 && { cache_control: cacheControl }),
    })),
    metadata: {
      user_id: JSON.stringify({ device_id: 'f'.repeat(64), account_uuid: '', session_id: sessionId }),
    },
    max_tokens: 64_000,
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    stream: true,
    ...members,
  });
}
