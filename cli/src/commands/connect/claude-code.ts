import { join } from 'node:path';
import { type Client, type Connection, keyRemark } from './client.ts';
import type { Edit } from './edit.ts';
import { jsonFormat } from './json-format.ts';

// Claude Code, ~/.claude/settings.json. Its base URL has no /v1. A token in `env` wins over apiKeyHelper, whose output it
// sends as Authorization and as x-api-key.

export const claudeCode: Client = {
  title: 'Claude Code',
  remarks: (connection) => [
    ...keyRemark(connection, 'claude'),
    ...(connection.model === undefined
      ? ['model names of Claude Code work if a route has them as aliases']
      : []),
  ],
  configuration: {
    kind: 'file',
    format: jsonFormat({ hasComments: false }),
    paths: ({ CLAUDE_CONFIG_DIR }, home) => [
      join(CLAUDE_CONFIG_DIR?.trim() || join(home, '.claude'), 'settings.json'),
    ],
    edits,
  },
};

function edits({ origin, key, model }: Connection): Edit[] {
  const isVariable = key.kind === 'variable';
  return [
    { path: ['env', 'ANTHROPIC_BASE_URL'], value: origin },
    { path: ['env', 'CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY'], value: '1' },
    { path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: isVariable ? undefined : key.value },
    { path: ['env', 'ANTHROPIC_API_KEY'], value: undefined },
    { path: ['apiKeyHelper'], value: isVariable ? `printenv ${key.name}` : undefined },
    ...(model === undefined ? [] : modelEdits(model)),
  ];
}

/** Besides the chosen model, Claude Code uses a small one of Anthropic's, which other providers do not have. */
function modelEdits(model: string): Edit[] {
  const isClaude = /^(anthropic\/)?claude/i.test(model);
  return [
    { path: ['model'], value: model },
    ...(isClaude ? [] : [{ path: ['env', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'], value: model }]),
  ];
}
