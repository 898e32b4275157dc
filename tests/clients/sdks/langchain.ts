import { importClient } from '../install.ts';
import {
  type Any,
  CITY_SCHEMA,
  type Connection,
  constructorOf,
  MAX_TOKENS,
  type Question,
  type Reply,
  type SdkClient,
  TOOL,
  v1,
} from './sdk-client.ts';

/** A chat model of LangChain. */
function langChain(
  name: string,
  endpoint: SdkClient['endpoint'],
  open: (connection: Connection, model: string) => Promise<Any>,
): SdkClient {
  return {
    name: `LangChain, ${name}`,
    endpoint,
    async open(connection) {
      const messages: Any = await importClient('@langchain/core/messages');
      const { HumanMessage, AIMessage, ToolMessage, SystemMessage } = messages;
      const listOf = ({ prompt, image, results }: Question) => [
        new SystemMessage('Be brief.'),
        new HumanMessage(
          image
            ? {
                content: [
                  { type: 'text', text: prompt },
                  { type: 'image_url', image_url: { url: image } },
                ],
              }
            : prompt,
        ),
        ...(results
          ? [
              new AIMessage({
                content: '',
                tool_calls: results.map(({ id, name, input }) => ({
                  id,
                  name,
                  args: input,
                  type: 'tool_call',
                })),
              }),
              ...results.map(({ id, result }) => new ToolMessage({ tool_call_id: id, content: result })),
            ]
          : []),
      ];
      const model = async (question: Question) => {
        const one = await open(connection, question.model);
        return question.withTools ? one.bindTools([{ type: 'function', function: TOOL }]) : one;
      };
      const reply = (message: Any): Reply => ({
        text: message.text,
        calls: (message.tool_calls ?? []).map(({ id, name, args }: Any) => ({ id, name, input: args })),
      });
      return {
        async ask(question) {
          const one = await model(question);
          return reply(await one.invoke(listOf(question), { signal: question.signal }));
        },
        async stream(question, onPiece) {
          const one = await model(question);
          let whole: Any;
          for await (const chunk of await one.stream(listOf(question), { signal: question.signal })) {
            if (chunk.text) onPiece(chunk.text);
            whole = whole ? whole.concat(chunk) : chunk;
          }
          return reply(whole);
        },
        async structured(question) {
          const one = await open(connection, question.model);
          const structured = one.withStructuredOutput(CITY_SCHEMA, { name: 'city', method: 'jsonSchema' });
          return structured.invoke(listOf(question));
        },
      };
    },
  };
}

const chatOpenAI = (useResponsesApi: boolean) => async (connection: Connection, model: string) => {
  const ChatOpenAI = await constructorOf('@langchain/openai', 'ChatOpenAI');
  const { secret: apiKey, maxRetries, fetch } = connection;
  const configuration = { baseURL: v1(connection), fetch };
  return new ChatOpenAI({ model, apiKey, maxRetries, useResponsesApi, configuration });
};

export const langChains: readonly SdkClient[] = [
  langChain('openai', 'chat', chatOpenAI(false)),
  langChain('openai responses', 'responses', chatOpenAI(true)),
  langChain('anthropic', 'messages', async (connection, model) => {
    const ChatAnthropic = await constructorOf('@langchain/anthropic', 'ChatAnthropic');
    const { secret: apiKey, maxRetries, fetch, port } = connection;
    return new ChatAnthropic({
      model,
      apiKey,
      maxRetries,
      maxTokens: MAX_TOKENS,
      anthropicApiUrl: `http://127.0.0.1:${port}`,
      clientOptions: { fetch },
    });
  }),
];
