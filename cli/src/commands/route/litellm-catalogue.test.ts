import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readCatalogue } from '@gatehouse/control-plane/catalogue-file';
import { parse } from 'yaml';
import { CommandError } from '../../terminal/errors.ts';
import { catalogueOf } from './litellm-catalogue.ts';
import { readLitellmConfig } from './litellm-config.ts';
import { PRICES_FROM } from './public-prices.ts';

const ROOT = join(import.meta.dirname, '../../../..');

const CONFIG = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY }
    model_info: { max_output_tokens: 16384, max_input_tokens: 128000 }
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: os.environ/TEAM_KEY }
  - model_name: house
    litellm_params: { model: hosted_vllm/llama, api_base: http://10.0.0.5:8000/v1, input_cost_per_token: 1e-07, output_cost_per_token: "0.0000002" }
  - model_name: house
    litellm_params: { model: azure/my-deployment, api_base: "https://Corp.openai.azure.com/", api_key: sk-live-0123456789 , input_cost_per_token: 0.000001, output_cost_per_token: 0.000002, cache_read_input_token_cost: 5e-7 }
  - model_name: local
    litellm_params: { model: ollama_chat/qwen3, api_base: http://127.0.0.1:11434 }
  - model_name: nova
    litellm_params: { model: bedrock/amazon.nova-pro-v1:0, aws_region_name: us-east-1 }
  - model_name: "openai/*"
    litellm_params: { model: "openai/*" }
router_settings:
  model_group_alias: { gpt-4: gpt-4o }
litellm_settings: { drop_params: true }
`;

describe('a catalogue made of a LiteLLM configuration', async () => {
  const shipped = await readFile(join(ROOT, 'catalogue.yaml'), 'utf8');
  const made = (text: string, rate = 280) => catalogueOf(readLitellmConfig(text), rate, shipped);

  it('has its providers, models, other names and prices, and can be applied', () => {
    const { text, inactive, leftOut } = made(CONFIG);
    readCatalogue(text, 'made');
    const { providers, routes } = parse(text) as Record<string, never> & {
      providers: Record<string, Record<string, unknown>>;
      routes: Record<string, unknown>[];
    };
    assert.deepEqual(
      Object.entries(providers).map(([name, { base_url, api_key_env, auth }]) => [
        name,
        base_url,
        api_key_env,
        auth,
      ]),
      [
        ['openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY', undefined],
        ['anthropic', 'https://api.anthropic.com/v1', 'TEAM_KEY', undefined],
        ['10-0-0-5-8000', 'http://10.0.0.5:8000/v1', undefined, undefined],
        [
          'corp-openai-azure-com',
          'https://corp.openai.azure.com/openai/v1',
          'CORP_OPENAI_AZURE_COM_API_KEY',
          'api-key',
        ],
        ['127-0-0-1-11434', 'http://127.0.0.1:11434/v1', undefined, undefined],
      ],
    );
    const [gpt, claude, house, local, ...others] = routes;
    assert.deepEqual(others, []);
    assert.deepEqual(gpt, {
      ...{ id: 'gpt-4o', aliases: ['gpt-4'], provider: 'openai', upstream_model: 'gpt-4o' },
      price_pkr_per_million: { input: 700, output: 2800, cache_write: 700, cache_read: 350 },
      ...{ max_output_tokens: 16_384, max_input_tokens: 128_000 },
    });
    const { tiers, ...base } = (claude?.['price_pkr_per_million'] ?? {}) as Record<string, unknown>;
    assert.deepEqual(base, { input: 840, output: 4200, cache_write: 1050, cache_read: 84 });
    assert.deepEqual(tiers, [
      { above_prompt_tokens: 200_000, input: 1680, output: 6300, cache_write: 2100, cache_read: 168 },
    ]);
    assert.deepEqual(house?.['targets'], [
      {
        provider: '10-0-0-5-8000',
        upstream_model: 'llama',
        price_pkr_per_million: { input: 28, output: 56 },
      },
      {
        ...{ provider: 'corp-openai-azure-com', upstream_model: 'my-deployment' },
        price_pkr_per_million: { input: 280, output: 560, cache_read: 140 },
      },
    ]);
    assert.deepEqual([local?.['active'], inactive], [false, ['local']]);
    assert.deepEqual(leftOut, [
      'nova (bedrock/amazon.nova-pro-v1:0): no route without an api_base for bedrock',
      'openai/*: a route has a name of its own, and no pattern',
    ]);
    for (const remark of [
      /^# Made from a configuration of LiteLLM, at 280 PKR a dollar/,
      /#\s+- nova \(bedrock\/amazon/,
      /# Its price is not known: state it, then make the route active\.\n(?:\s*#.*\n)*\s*- id: local/,
      /# Its key stands in the file/,
    ])
      assert.match(text, remark);
    assert.ok(!text.includes('sk-live'), 'a secret of the file');
  });

  it('has a provider for each key at one host, a target once, and no price of an address of one’s own', () => {
    const at = (rest: string) => `{ model_name: x, litellm_params: { model: azure/gpt-4o, ${rest} } }`;
    const host = 'api_base: "https://corp.openai.azure.com"';
    const { text, inactive } = made(
      `model_list: [${at(`${host}, api_key: os.environ/ONE`)}, ${at(`${host}, api_key: os.environ/TWO`)}, ${at(`${host}, api_key: os.environ/ONE`)}]`,
    );
    readCatalogue(text, 'made');
    const { providers, routes } = parse(text);
    const variables = Object.entries<{ api_key_env: string }>(providers).map(([name, { api_key_env }]) => [
      name,
      api_key_env,
    ]);
    const [first = '', second = ''] = variables.map(([name]) => name);
    assert.deepEqual(variables, [
      ['corp-openai-azure-com', 'ONE'],
      ['corp-openai-azure-com-2', 'TWO'],
    ]);
    assert.deepEqual(
      routes[0].targets.map(({ provider }: { provider: string }) => provider),
      [first, second],
    );
    assert.deepEqual(inactive, ['x']);
  });

  it('says what is no such configuration', () => {
    for (const [text, sentence] of [
      ['a: [', /^the file is no YAML: /],
      ['model_list: 5', /^the file is no config\.yaml of LiteLLM: model_list /],
      ['model_list: [{ model_name: x }]', /model_list\.0\.litellm_params/],
      ['', /the file/],
    ] as const)
      assert.throws(
        () => made(text),
        (error) => {
          assert.ok(error instanceof CommandError);
          assert.match(error.message, sentence);
          return true;
        },
      );
  });

  it('has public prices of the version that is installed', async () => {
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'cli/package.json'), 'utf8'));
    assert.equal(dependencies[PRICES_FROM.name], PRICES_FROM.version);
  });
});
