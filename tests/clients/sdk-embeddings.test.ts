import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { addRoute, issueKey, json, useBench } from '@gatehouse/gateway/testing';
import { importClient } from './install.ts';

const bench = await useBench();
const VECTOR = [0.5, -0.25, 1];
const TOKENS = 8;
const TEXTS = ['one', 'two'];

// biome-ignore lint/suspicious/noExplicitAny: the SDKs' types are not known here.
type Any = any;

describe('SDKs and embeddings', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    await addRoute(bench.database, { id: 'some/embeddings', baseUrl, endpoints: ['embeddings'] });
    bench.provider.script = (response, asked) => {
      const { input, encoding_format: encoding = 'float' } = asked.body;
      const embedding =
        encoding === 'base64' ? Buffer.from(new Float32Array(VECTOR).buffer).toString('base64') : VECTOR;
      const texts = Array.isArray(input) ? input : [input];
      return json({
        object: 'list',
        data: texts.map((_, index) => ({ object: 'embedding', index, embedding })),
        model: 'upstream-model',
        usage: { prompt_tokens: TOKENS, total_tokens: TOKENS },
      })(response, asked);
    };
  });

  const connection = (secret: string) => ({
    apiKey: secret,
    baseURL: `http://127.0.0.1:${bench.gateway.port}/v1`,
  });
  const model = 'some/embeddings';

  for (const [name, encoding, embed] of [
    [
      'openai, which asks for base64 by itself',
      'base64',
      async (secret: string) => {
        const { default: OpenAI }: Any = await importClient('openai');
        const { data } = await new OpenAI(connection(secret)).embeddings.create({ model, input: TEXTS });
        return data.map(({ embedding }: Any) => embedding);
      },
    ],
    [
      'openai, with floats',
      'float',
      async (secret: string) => {
        const { default: OpenAI }: Any = await importClient('openai');
        const sdk = new OpenAI(connection(secret));
        const { data } = await sdk.embeddings.create({ model, input: TEXTS, encoding_format: 'float' });
        return data.map(({ embedding }: Any) => embedding);
      },
    ],
    [
      'AI SDK',
      'float',
      async (secret: string) => {
        const { embedMany }: Any = await importClient('ai');
        const { createOpenAI }: Any = await importClient('@ai-sdk/openai');
        const provider = createOpenAI(connection(secret));
        return (await embedMany({ model: provider.embedding(model), values: TEXTS })).embeddings;
      },
    ],
    [
      'LangChain',
      undefined,
      async (secret: string) => {
        const { OpenAIEmbeddings }: Any = await importClient('@langchain/openai');
        const { apiKey, baseURL } = connection(secret);
        return new OpenAIEmbeddings({ model, apiKey, configuration: { baseURL } }).embedDocuments(TEXTS);
      },
    ],
  ] as const) {
    it(name, async () => {
      const key = await issueKey(bench.database);
      const asked = bench.provider.asked.length;
      assert.deepEqual(await embed(key.secret), [VECTOR, VECTOR]);
      const [request] = bench.provider.asked.slice(asked);
      assert.equal(request?.path, '/v1/embeddings');
      if (encoding) assert.equal(request.body['encoding_format'], encoding);
      const [record, ...others] = bench.gateway.journal.records.filter(({ keyId }) => keyId === key.id);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [record?.status, record?.model, record?.promptTokens, record?.tokensGenerated, record?.costMicroPkr],
        [200, model, TOKENS, 0, BigInt(TOKENS * 70)],
      );
    });
  }
});
