import {
  type Any,
  CITY_SCHEMA,
  type Connection,
  constructorOf,
  parsed,
  type Question,
  type Reply,
  type SdkClient,
  TOOL,
  v1,
} from './sdk-client.ts';

async function openSdk(connection: Connection): Promise<Any> {
  const { secret: apiKey, maxRetries, fetch } = connection;
  const OpenAI = await constructorOf('openai');
  return new OpenAI({ apiKey, baseURL: v1(connection), maxRetries, fetch });
}

export const openaiChat: SdkClient = {
  name: 'openai, chat',
  endpoint: 'chat',
  async open(connection) {
    const sdk = await openSdk(connection);
    const body = ({ model, prompt, image, withTools, results }: Question) => ({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: image
            ? [
                { type: 'text', text: prompt },
                { type: 'image_url', image_url: { url: image } },
              ]
            : prompt,
        },
        ...(results
          ? [
              {
                role: 'assistant',
                content: null,
                tool_calls: results.map(({ id, name, input }) => ({
                  id,
                  type: 'function',
                  function: { name, arguments: JSON.stringify(input) },
                })),
              },
              ...results.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
            ]
          : []),
      ],
      ...(withTools && { tools: [{ type: 'function', function: TOOL }] }),
    });
    const reply = (message: Any): Reply => ({
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call: Any) => ({
        id: call.id,
        name: call.function.name,
        input: parsed(call.function.arguments),
      })),
    });
    return {
      async ask(question) {
        const answer = await sdk.chat.completions.create(body(question), { signal: question.signal });
        return reply(answer.choices[0].message);
      },
      async stream(question, onPiece) {
        const stream = sdk.chat.completions.stream(
          { ...body(question), stream_options: { include_usage: true } },
          { signal: question.signal },
        );
        for await (const chunk of stream) {
          const piece = chunk.choices[0]?.delta.content;
          if (piece) onPiece(piece);
        }
        return reply((await stream.finalChatCompletion()).choices[0].message);
      },
      async structured(question) {
        const answer = await sdk.chat.completions.create({
          ...body(question),
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'city', strict: true, schema: CITY_SCHEMA },
          },
        });
        return parsed(answer.choices[0].message.content);
      },
    };
  },
};

export const openaiResponses: SdkClient = {
  name: 'openai, responses',
  endpoint: 'responses',
  async open(connection) {
    const sdk = await openSdk(connection);
    const body = ({ model, prompt, image, withTools, results }: Question) => ({
      model,
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: image
            ? [
                { type: 'input_text', text: prompt },
                { type: 'input_image', image_url: image, detail: 'auto' },
              ]
            : prompt,
        },
        ...(results ?? []).map(({ id, name, input }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        })),
        ...(results ?? []).map(({ id, result }) => ({
          type: 'function_call_output',
          call_id: id,
          output: result,
        })),
      ],
      ...(withTools && { tools: [{ type: 'function', strict: false, ...TOOL }] }),
    });
    const reply = (response: Any): Reply => ({
      text: response.output_text,
      calls: response.output
        .filter(({ type }: Any) => type === 'function_call')
        .map((call: Any) => ({ id: call.call_id, name: call.name, input: parsed(call.arguments) })),
    });
    return {
      async ask(question) {
        return reply(await sdk.responses.create(body(question), { signal: question.signal }));
      },
      async stream(question, onPiece) {
        const stream = sdk.responses.stream(body(question), { signal: question.signal });
        for await (const event of stream) {
          if (event.type === 'response.output_text.delta') onPiece(event.delta);
        }
        return reply(await stream.finalResponse());
      },
      async structured(question) {
        const answer = await sdk.responses.create({
          ...body(question),
          text: { format: { type: 'json_schema', name: 'city', strict: true, schema: CITY_SCHEMA } },
        });
        return parsed(answer.output_text);
      },
    };
  },
};
