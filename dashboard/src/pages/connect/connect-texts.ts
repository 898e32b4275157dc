// What each client is configured with. docs/clients/ has the same, and a test compares the two.

export type ClientId = 'claude-code' | 'codex' | 'cursor' | 'open-webui' | 'curl' | 'python' | 'typescript';

export interface ConnectionOf {
  /** The gateway's address without `/v1`. */
  readonly gateway: string;
  /** Undefined where it is not known any more: the texts then name the variable, or a placeholder. */
  readonly secret: string | undefined;
  /** A route id or alias; undefined leaves the choice to the client where it has one. */
  readonly model: string | undefined;
}

export interface ConnectStep {
  /** One sentence. */
  readonly text: string;
  readonly code?: string | undefined;
  /** The subject of the code for screen readers: "the settings of Claude Code". */
  readonly label?: string | undefined;
}

export interface ConnectClientTexts {
  readonly id: ClientId;
  readonly label: string;
  readonly steps: (connection: ConnectionOf) => readonly ConnectStep[];
}

/** Answers on a new installation, without an account at a provider. */
const FIRST_MODEL = 'demo/echo';
const PLACEHOLDER = 'sk_svc_...';

const exportKey = ({ secret }: ConnectionOf) => `export GATEHOUSE_API_KEY=${secret ?? PLACEHOLDER}`;

/** A text in single quotes of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export const CLIENTS: readonly ConnectClientTexts[] = [
  {
    id: 'claude-code',
    label: 'Claude Code',
    steps: (connection) => [
      {
        text: 'Put this into ~/.claude/settings.json. The address has no /v1.',
        code: claudeSettings(connection),
        label: 'the settings of Claude Code',
      },
      {
        text: 'Start it in an environment with the key:',
        code: `${exportKey(connection)}\nclaude`,
        label: 'the start of Claude Code',
      },
      {
        text:
          connection.model === undefined
            ? 'Claude Code asks for model names of its own. They work where a route has them as aliases; otherwise choose a model above.'
            : '/status shows the address. /model lists the models of the gateway whose names begin with claude.',
      },
    ],
  },
  {
    id: 'codex',
    label: 'Codex',
    steps: (connection) => [
      {
        text: 'Put this into ~/.codex/config.toml:',
        code: codexSettings(connection),
        label: 'the settings of Codex',
      },
      {
        text: 'Start it in an environment with the key:',
        code: `${exportKey(connection)}\ncodex`,
        label: 'the start of Codex',
      },
    ],
  },
  {
    id: 'cursor',
    label: 'Cursor',
    steps: ({ gateway, secret, model }) => [
      {
        text: 'In Cursor Settings > Models, add the model by its name, turn on OpenAI API Key and Override OpenAI Base URL, and enter:',
        code: [
          `Override OpenAI Base URL: ${gateway}/v1`,
          `OpenAI API Key: ${secret ?? 'the value of GATEHOUSE_API_KEY'}`,
          `Model: ${model ?? FIRST_MODEL}`,
        ].join('\n'),
        label: 'the settings of Cursor',
      },
      {
        text: 'Cursor calls from its own servers: the address must be reachable from the internet, with https. Give it a key of its own, with a credit limit.',
      },
    ],
  },
  {
    id: 'open-webui',
    label: 'Open WebUI',
    steps: (connection) => [
      {
        text: 'Set these before its first start; later, change them in Admin Panel > Settings > Connections.',
        code: [
          `export OPENAI_API_BASE_URL=${connection.gateway}/v1`,
          `export OPENAI_API_KEY=${connection.secret ?? '"$GATEHOUSE_API_KEY"'}`,
          'export ENABLE_FORWARD_USER_INFO_HEADERS=true',
        ].join('\n'),
        label: 'the variables of Open WebUI',
      },
      {
        text: 'Then start its container:',
        code: [
          'docker run -d -p 3000:8080 --add-host host.docker.internal:host-gateway \\',
          '  -e OPENAI_API_BASE_URL -e OPENAI_API_KEY -e ENABLE_FORWARD_USER_INFO_HEADERS \\',
          '  -v open-webui:/app/backend/data ghcr.io/open-webui/open-webui:main',
        ].join('\n'),
        label: 'the container of Open WebUI',
      },
      {
        text: 'To a container the gateway is another machine: where the address is localhost, use host.docker.internal in its place.',
      },
    ],
  },
  {
    id: 'curl',
    label: 'curl',
    steps: (connection) => [
      { text: 'In a terminal:', code: exportKey(connection), label: 'the key as a variable' },
      {
        text: 'The models that the key may use, then a first request:',
        code: [
          `curl -sf ${connection.gateway}/v1/models -H "authorization: Bearer $GATEHOUSE_API_KEY"`,
          '',
          `curl ${connection.gateway}/v1/chat/completions \\`,
          '  -H "authorization: Bearer $GATEHOUSE_API_KEY" \\',
          "  -H 'content-type: application/json' \\",
          `  -d ${quoted(JSON.stringify({ model: connection.model ?? FIRST_MODEL, messages: [{ role: 'user', content: 'Hello' }] }))}`,
        ].join('\n'),
        label: 'the requests with curl',
      },
    ],
  },
  {
    id: 'python',
    label: 'Python',
    steps: (connection) => [
      openaiVariables(connection),
      {
        text: 'With OpenAI’s SDK (pip install openai), which reads both:',
        code: [
          'from openai import OpenAI',
          '',
          'client = OpenAI()',
          'answer = client.chat.completions.create(',
          `    model=${JSON.stringify(connection.model ?? FIRST_MODEL)},`,
          '    messages=[{"role": "user", "content": "Hello"}],',
          ')',
          'print(answer.choices[0].message.content)',
        ].join('\n'),
        label: 'the program in Python',
      },
    ],
  },
  {
    id: 'typescript',
    label: 'TypeScript',
    steps: (connection) => [
      openaiVariables(connection),
      {
        text: 'With OpenAI’s SDK (npm install openai), which reads both:',
        code: [
          "import OpenAI from 'openai';",
          '',
          'const client = new OpenAI();',
          'const answer = await client.chat.completions.create({',
          `  model: ${literal(connection.model ?? FIRST_MODEL)},`,
          "  messages: [{ role: 'user', content: 'Hello' }],",
          '});',
          'console.log(answer.choices[0].message.content);',
        ].join('\n'),
        label: 'the program in TypeScript',
      },
    ],
  },
];

function openaiVariables({ gateway, secret }: ConnectionOf): ConnectStep {
  return {
    text: 'Set the address and the key in the environment of the program:',
    code: [
      `export OPENAI_BASE_URL=${gateway}/v1`,
      `export OPENAI_API_KEY=${secret ?? '"$GATEHOUSE_API_KEY"'}`,
    ].join('\n'),
    label: 'the variables of the program',
  };
}

function claudeSettings({ gateway, model }: ConnectionOf): string {
  const isClaude = model !== undefined && /^(anthropic\/)?claude/i.test(model);
  return JSON.stringify(
    {
      env: {
        ANTHROPIC_BASE_URL: gateway,
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        // The small model for titles and summaries, which other providers do not have.
        ...(model === undefined || isClaude ? {} : { ANTHROPIC_DEFAULT_HAIKU_MODEL: model }),
      },
      apiKeyHelper: 'printenv GATEHOUSE_API_KEY',
      ...(model === undefined ? {} : { model }),
    },
    undefined,
    2,
  );
}

function codexSettings({ gateway, model }: ConnectionOf): string {
  return [
    'model_provider = "gatehouse"',
    ...(model === undefined ? [] : [`model = ${JSON.stringify(model)}`]),
    '',
    '[model_providers.gatehouse]',
    'name = "Gatehouse"',
    `base_url = ${JSON.stringify(`${gateway}/v1`)}`,
    'wire_api = "responses"',
    'env_key = "GATEHOUSE_API_KEY"',
  ].join('\n');
}

/** A text in single quotes of JavaScript. */
function literal(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
