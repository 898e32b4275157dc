import { type Client, type Connection, FIRST_MODEL, keyRemark, openaiBaseUrl, shellKey } from './client.ts';

// Clients without a file that this command could change.

export const cursor: Client = {
  title: 'Cursor',
  remarks: (connection) => [
    'enter these in Cursor Settings > Models, and add the model by its name',
    'Cursor calls from its own servers, so the address must be reachable from the internet, with https',
    ...keyRemark(connection, 'this shell to copy it from'),
  ],
  configuration: {
    kind: 'text',
    lines: (connection) => [
      `Override OpenAI Base URL: ${openaiBaseUrl(connection)}`,
      `OpenAI API Key: ${connection.key.kind === 'value' ? connection.key.value : `the value of ${connection.key.name}`}`,
      `Model: ${connection.model ?? FIRST_MODEL}`,
    ],
  },
};

export const openWebui: Client = {
  title: 'Open WebUI',
  remarks: (connection) => [
    'set these in its container before its first start; later, change them in Admin Panel > Settings > Connections',
    ...keyRemark(connection, 'its container'),
  ],
  configuration: {
    kind: 'text',
    lines: (connection) => [
      `export OPENAI_API_BASE_URL=${openaiBaseUrl(connection)}`,
      `export OPENAI_API_KEY=${shellKey(connection)}`,
      'export ENABLE_FORWARD_USER_INFO_HEADERS=true',
    ],
  },
};

export const openai: Client = {
  title: 'the OpenAI SDKs',
  remarks: () => ['the SDKs read both variables when a client is made without arguments'],
  configuration: {
    kind: 'text',
    lines: (connection) => [
      `export OPENAI_BASE_URL=${openaiBaseUrl(connection)}`,
      `export OPENAI_API_KEY=${shellKey(connection)}`,
    ],
  },
};

export const anthropic: Client = {
  title: 'the Anthropic SDKs',
  remarks: () => ['the SDKs read both variables when a client is made without arguments'],
  configuration: {
    kind: 'text',
    lines: (connection) => [
      `export ANTHROPIC_BASE_URL=${connection.origin}`,
      `export ANTHROPIC_API_KEY=${shellKey(connection)}`,
    ],
  },
};

export const aiSdk: Client = {
  title: 'the AI SDK',
  remarks: (connection) => keyRemark(connection, 'the program'),
  configuration: {
    kind: 'text',
    lines: (connection) => [
      'import { createOpenAICompatible } from "@ai-sdk/openai-compatible";',
      'import { generateText } from "ai";',
      '',
      'const gatehouse = createOpenAICompatible({',
      '  name: "gatehouse",',
      `  baseURL: "${openaiBaseUrl(connection)}",`,
      `  apiKey: ${programKey(connection)},`,
      '  includeUsage: true,',
      '});',
      '',
      'const { text } = await generateText({',
      `  model: gatehouse("${connection.model ?? FIRST_MODEL}"),`,
      '  prompt: "Hello",',
      '});',
      'console.log(text);',
    ],
  },
};

// In the text of a program only: this one reads its environment in one place.
const ENVIRONMENT = ['process', 'env'].join('.');

function programKey({ key }: Connection): string {
  return key.kind === 'value' ? `"${key.value}"` : `${ENVIRONMENT}.${key.name}`;
}
