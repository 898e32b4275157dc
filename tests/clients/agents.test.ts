import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Asked, addRoute, assertNoDelays, issueKey, useBench } from '@gatehouse/gateway/testing';
import { clientFile } from './install.ts';
import { type ModelAnswer, model, USAGE } from './model.ts';
import { type ProgramResult, runProgram } from './program.ts';
import { startRecorder } from './recorder.ts';
import { unspliced } from './unspliced.ts';

// Claude Code and Codex as they come from npm, without an account and without a terminal, against the gateway. A turn with
// a tool: the model asks for a file, the program reads it and sends it back, and the model says what it has read.

const CONTENT = 'the colour of the gatehouse door is teal';
const ANSWER = 'I read that the door is teal.';

const bench = await useBench();

interface Agent {
  readonly name: string;
  /** The path that it sends its requests to. */
  readonly path: string;
  /** The call of a tool that reads a file. */
  readonly read: (file: string) => { readonly name: string; readonly input: object };
  readonly run: (request: Run) => Promise<ProgramResult>;
}

interface Run {
  readonly port: number;
  readonly model: string;
  readonly secret: string;
  readonly prompt: string;
  readonly directory: string;
  readonly home: string;
}

const claudeCode: Agent = {
  name: 'Claude Code',
  path: '/v1/messages',
  read: (file) => ({ name: 'Read', input: { file_path: file } }),
  async run({ port, model, secret, prompt, directory, home }) {
    const platform = `claude-code-${process.platform}-${process.arch}`;
    return runProgram(
      await clientFile('@anthropic-ai', platform, 'claude'),
      ['-p', prompt, '--output-format', 'json', '--model', model],
      {
        home,
        directory,
        environment: {
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
          ANTHROPIC_AUTH_TOKEN: secret,
          ANTHROPIC_SMALL_FAST_MODEL: model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_TELEMETRY: '1',
          DISABLE_AUTOUPDATER: '1',
        },
      },
    );
  },
};

const codex: Agent = {
  name: 'Codex',
  path: '/v1/responses',
  read: (file) => ({ name: 'exec_command', input: { cmd: `cat ${file}` } }),
  async run({ port, model, secret, prompt, directory, home }) {
    await mkdir(join(home, '.codex'), { recursive: true });
    await writeFile(
      join(home, '.codex/config.toml'),
      `model = ${JSON.stringify(model)}
model_provider = "gatehouse"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.gatehouse]
name = "Gatehouse"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "GATEHOUSE_KEY"
`,
    );
    return runProgram(
      await clientFile('.bin', 'codex'),
      ['exec', '--skip-git-repo-check', '-m', model, prompt],
      { home, directory, environment: { GATEHOUSE_KEY: secret } },
    );
  },
};

/** Each with the path that its provider is asked at, where that is the agent's own. */
const ROUTES = [
  {
    id: 'anthropic/claude-opus-4-8',
    protocol: 'anthropic',
    aliases: ['claude-opus-4-8'],
    native: '/v1/messages',
  },
  { id: 'openai/gpt-5-mini', protocol: 'openai', aliases: ['gpt-5-mini'], native: undefined },
  {
    id: 'openai/gpt-5',
    protocol: 'openai',
    aliases: ['gpt-5'],
    flags: { surfaces: { chat: '/chat/completions', responses: '/responses' } },
    native: '/v1/responses',
  },
] as const;

describe('the coding agents', () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-clients-'));
    file = join(folder, 'note.txt');
    await writeFile(file, `${CONTENT}\n`);
    const { baseUrl } = bench.provider;
    const all = {
      baseUrl,
      endpoints: ['chat', 'responses', 'messages'],
      maxInputTokens: 400_000,
      maxOutputTokens: 64_000,
    };
    for (const { native: _, ...route } of ROUTES) await addRoute(bench.database, { ...all, ...route });
    await addRoute(bench.database, {
      ...all,
      id: 'demo/echo',
      protocol: 'demo',
      baseUrl: null,
      apiKeyEnv: null,
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));
  afterEach(async () => {
    bench.provider.asked.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  /** Runs the agent with a home of its own. */
  const run = async (agent: Agent, request: Omit<Run, 'port' | 'home' | 'directory'>) => {
    const home = await mkdtemp(join(folder, 'home-'));
    await using recorder = await startRecorder(bench.gateway.port);
    const result = await agent.run({ ...request, port: recorder.port, home, directory: folder });
    return { ...result, sent: recorder.sent };
  };
  const bytesTo = (path: string, all: readonly { readonly path: string; readonly text: string }[]) =>
    all
      .filter((one) => one.path.split('?')[0] === path)
      .map(({ text }) => unspliced(text))
      .sort();
  const recordsOf = (keyId: string) =>
    bench.gateway.journal.records.filter((record) => record.keyId === keyId);

  for (const agent of [claudeCode, codex]) {
    for (const {
      id,
      aliases: [alias],
      native,
    } of ROUTES) {
      it(`${agent.name} reads a file with ${id}`, async () => {
        const key = await issueKey(bench.database);
        bench.provider.script = model((asked): ModelAnswer => {
          if (asked.text.includes(CONTENT)) return { text: ANSWER };
          // A title or a summary is asked for without tools.
          return hasTool(asked, agent.read(file).name) ? { calls: [agent.read(file)] } : { text: 'A note' };
        });
        const result = await run(agent, { model: alias, secret: key.secret, prompt: 'What is in note.txt?' });
        assert.equal(result.code, 0, `${result.stdout}\n${result.stderr}`);
        assert.ok(result.stdout.includes(ANSWER), result.stdout);
        const records = recordsOf(key.id);
        assert.ok(records.length >= 2);
        for (const record of records) {
          const { status, model: named, promptTokens, tokensGenerated, tokensEstimated } = record;
          assert.deepEqual(
            [status, named, promptTokens, tokensGenerated, tokensEstimated],
            [200, alias, USAGE.input, USAGE.output, false],
          );
          assert.equal(record.costMicroPkr, BigInt(USAGE.input * 70 + USAGE.output * 560));
          assert.equal(record.upstreamError, null);
        }
        if (native === agent.path) {
          const bytes = bytesTo(native, bench.provider.asked);
          assert.equal(bytes.length, records.length);
          assert.deepEqual(bytes, bytesTo(native, result.sent));
        }
      });
    }

    it(`${agent.name} calls a tool that demo/echo is told to call`, async () => {
      const key = await issueKey(bench.database);
      const { name, input } = agent.read(file);
      const prompt = `Call the tool ${name} with ${JSON.stringify(input)}`;
      const result = await run(agent, { model: 'demo/echo', secret: key.secret, prompt });
      assert.equal(result.code, 0, `${result.stdout}\n${result.stderr}`);
      assert.ok(result.stdout.includes(CONTENT), result.stdout);
      assert.ok(recordsOf(key.id).length >= 2);
    });

    for (const [what, options, requested, words] of [
      ['an expired key', { expiresIn: '-1 second' }, 'openai/gpt-5-mini', /expired/],
      ['a key without credit', { creditLimitMicroPkr: 1n }, 'openai/gpt-5-mini', /credit/],
      ['a model that does not exist', {}, 'openai/gpt-6-mini', /gpt-6-mini/],
    ] as const) {
      it(`${agent.name} with ${what} says so and gives up`, async () => {
        const key = await issueKey(bench.database, options);
        const result = await run(agent, { model: requested, secret: key.secret, prompt: 'Hi' });
        assert.notEqual(result.code, 0);
        assert.match(result.stdout + result.stderr, words);
        assert.ok(recordsOf(key.id).length <= 12, `${recordsOf(key.id).length} requests`);
        assert.equal(bench.provider.asked.length, 0);
      });
    }
  }
});

function hasTool({ text }: Asked, name: string): boolean {
  return text.includes(`"name":${JSON.stringify(name)}`);
}
