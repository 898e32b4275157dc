import { join } from 'node:path';
import { type Client, type Connection, keyRemark, openaiBaseUrl } from './client.ts';
import type { Edit } from './edit.ts';
import { tomlFormat } from './toml-format.ts';

// Codex, ~/.codex/config.toml: a provider of its own, because the built-in ones cannot be changed. It speaks the
// Responses API only.

const PROVIDER = ['model_providers', 'gatehouse'];

export const codex: Client = {
  title: 'Codex',
  remarks: (connection) => [
    ...keyRemark(connection, 'codex'),
    ...(connection.model === undefined ? ['its default model works where a route has it as an alias'] : []),
  ],
  configuration: {
    kind: 'file',
    format: tomlFormat,
    paths: ({ CODEX_HOME }, home) => [join(CODEX_HOME?.trim() || join(home, '.codex'), 'config.toml')],
    edits,
  },
};

function edits(connection: Connection): Edit[] {
  const { key, model } = connection;
  const isVariable = key.kind === 'variable';
  return [
    { path: ['model_provider'], value: 'gatehouse' },
    ...(model === undefined ? [] : [{ path: ['model'], value: model }]),
    { path: [...PROVIDER, 'name'], value: 'Gatehouse' },
    { path: [...PROVIDER, 'base_url'], value: openaiBaseUrl(connection) },
    { path: [...PROVIDER, 'wire_api'], value: 'responses' },
    { path: [...PROVIDER, 'env_key'], value: isVariable ? key.name : undefined },
    { path: [...PROVIDER, 'experimental_bearer_token'], value: isVariable ? undefined : key.value },
  ];
}
