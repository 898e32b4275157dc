import { importClient } from '../install.ts';
import {
  type Any,
  CITY_SCHEMA,
  type Connection,
  constructorOf,
  MAX_TOKENS,
  type Question,
  type SdkClient,
  TOOL,
  type ToolCall,
  v1,
} from './sdk-client.ts';

function aiSdk(
  name: string,
  endpoint: SdkClient['endpoint'],
  modelOf: (connection: Connection, id: string) => Promise<Any>,
): SdkClient {
  return {
    name: `AI SDK, ${name}`,
    endpoint,
    async open(connection) {
      const { generateText, streamText, tool, jsonSchema, Output }: Any = await importClient('ai');
      const options = async ({ model, prompt, image, withTools, results, signal }: Question) => ({
        model: await modelOf(connection, model),
        maxRetries: connection.maxRetries,
        maxOutputTokens: MAX_TOKENS,
        abortSignal: signal,
        system: 'Be brief.',
        messages: [
          {
            role: 'user',
            content: image
              ? [
                  { type: 'text', text: prompt },
                  { type: 'image', image },
                ]
              : prompt,
          },
          ...(results
            ? [
                {
                  role: 'assistant',
                  content: results.map(({ id, name, input }) => ({
                    type: 'tool-call',
                    toolCallId: id,
                    toolName: name,
                    input,
                  })),
                },
                {
                  role: 'tool',
                  content: results.map(({ id, name, result }) => ({
                    type: 'tool-result',
                    toolCallId: id,
                    toolName: name,
                    output: { type: 'text', value: result },
                  })),
                },
              ]
            : []),
        ],
        ...(withTools && {
          tools: {
            [TOOL.name]: tool({ description: TOOL.description, inputSchema: jsonSchema(TOOL.parameters) }),
          },
        }),
      });
      const callsOf = (calls: Any): ToolCall[] =>
        calls.map(({ toolCallId, toolName, input }: Any) => ({ id: toolCallId, name: toolName, input }));
      return {
        async ask(question) {
          const { text, toolCalls } = await generateText(await options(question));
          return { text, calls: callsOf(toolCalls) };
        },
        async stream(question, onPiece) {
          let failure: unknown;
          const onError = ({ error }: { error: unknown }) => {
            failure ??= error;
          };
          const result = streamText({ ...(await options(question)), onError });
          for await (const piece of result.textStream) onPiece(piece);
          if (failure !== undefined) throw failure;
          question.signal?.throwIfAborted();
          return { text: await result.text, calls: callsOf(await result.toolCalls) };
        },
        async structured(question) {
          const output = Output.object({ schema: jsonSchema(CITY_SCHEMA) });
          const result = await generateText({ ...(await options(question)), output });
          return result.output;
        },
      };
    },
  };
}

export const aiSdks: readonly SdkClient[] = [
  aiSdk('openai', 'responses', async (connection, id) => {
    const createOpenAI = await constructorOf('@ai-sdk/openai', 'createOpenAI');
    return createOpenAI({ apiKey: connection.secret, baseURL: v1(connection), fetch: connection.fetch })(id);
  }),
  aiSdk('openai.chat', 'chat', async (connection, id) => {
    const createOpenAI = await constructorOf('@ai-sdk/openai', 'createOpenAI');
    const provider = createOpenAI({
      apiKey: connection.secret,
      baseURL: v1(connection),
      fetch: connection.fetch,
    });
    return provider.chat(id);
  }),
  aiSdk('openai-compatible', 'chat', async (connection, id) => {
    const create = await constructorOf('@ai-sdk/openai-compatible', 'createOpenAICompatible');
    const { secret, fetch } = connection;
    return create({
      name: 'gatehouse',
      apiKey: secret,
      baseURL: v1(connection),
      fetch,
      supportsStructuredOutputs: true,
    })(id);
  }),
  aiSdk('anthropic', 'messages', async (connection, id) => {
    const createAnthropic = await constructorOf('@ai-sdk/anthropic', 'createAnthropic');
    return createAnthropic({ apiKey: connection.secret, baseURL: v1(connection), fetch: connection.fetch })(
      id,
    );
  }),
];
