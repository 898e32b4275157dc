import {
  type Any,
  CITY_SCHEMA,
  constructorOf,
  MAX_TOKENS,
  parsed,
  type Question,
  type Reply,
  type SdkClient,
  TOOL,
} from './sdk-client.ts';

export const anthropic: SdkClient = {
  name: '@anthropic-ai/sdk',
  endpoint: 'messages',
  async open({ port, secret, maxRetries, fetch }) {
    const Anthropic = await constructorOf('@anthropic-ai/sdk');
    const sdk: Any = new Anthropic({
      apiKey: null,
      authToken: secret,
      baseURL: `http://127.0.0.1:${port}`,
      maxRetries,
      fetch,
    });
    const body = ({ model, prompt, image, withTools, results }: Question) => ({
      model,
      max_tokens: MAX_TOKENS,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: image ? [{ type: 'text', text: prompt }, imageBlock(image)] : prompt },
        ...(results
          ? [
              {
                role: 'assistant',
                content: results.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
              },
              {
                role: 'user',
                content: results.map(({ id, result }) => ({
                  type: 'tool_result',
                  tool_use_id: id,
                  content: result,
                })),
              },
            ]
          : []),
      ],
      ...(withTools && {
        tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }],
      }),
    });
    const reply = (message: Any): Reply => ({
      text: message.content.map(({ text = '' }: Any) => text).join(''),
      calls: message.content
        .filter(({ type }: Any) => type === 'tool_use')
        .map(({ id, name, input }: Any) => ({ id, name, input })),
    });
    return {
      async ask(question) {
        return reply(await sdk.messages.create(body(question), { signal: question.signal }));
      },
      async stream(question, onPiece) {
        const stream = sdk.messages.stream(body(question), { signal: question.signal });
        stream.on('text', onPiece);
        return reply(await stream.finalMessage());
      },
      async structured(question) {
        const answer = await sdk.messages.create({
          ...body(question),
          output_config: { format: { type: 'json_schema', schema: CITY_SCHEMA } },
        });
        return parsed(reply(answer).text);
      },
    };
  },
};

function imageBlock(dataUrl: string): object {
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/.exec(dataUrl) ?? [];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

/** A provider of the AI SDK, by the function that makes it and the model that it makes. */
