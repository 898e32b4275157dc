// Every feature of a request that a translation has to deal with, and what becomes of it where a provider speaks another
// format than the caller. The translators ask this table, docs/translation.md shows it, and feature-table.test.ts tries
// every entry.
//
// Dropped: the model still reads the same prompt and can call the same tools. Refused: without the feature, the answer would be
// to another question.

/** The formats that are translated into each other. */
export const TRANSLATED_FORMATS = ['chat', 'messages', 'responses'] as const;
export type TranslatedFormat = (typeof TRANSLATED_FORMATS)[number];

/** From the caller's format to the provider's. */
export type Direction = `${TranslatedFormat} to ${TranslatedFormat}`;

/** The columns of the table. */
export const DIRECTIONS = [
  ...(['chat to messages', 'chat to responses'] as const),
  ...(['messages to chat', 'messages to responses'] as const),
  ...(['responses to chat', 'responses to messages'] as const),
] satisfies readonly Direction[];

/**
 * Translated: the provider is asked for the same in its own format. Dropped: not sent, and named in the answer's
 * `x-gatehouse-dropped`. Refused: 400, because without it the answer would mean something else.
 */
export type Treatment = 'translated' | 'dropped' | 'refused';

const TREATMENTS = { T: 'translated', D: 'dropped', R: 'refused', '-': undefined } as const;
type Letter = keyof typeof TREATMENTS;
type Pair = `${Letter}${Letter}`;

/** A letter a direction, none where the caller's format does not have the feature; its name in the documentation; its paths. */
type Row = readonly [letters: `${Pair} ${Pair} ${Pair}`, name: string, path?: Path];

/**
 * The name of a feature in the caller's format, by which it is disclosed and refused where only the writer finds out that it is lost. One
 * that is lost where it is read has its exact path.
 */
type Path = string | { readonly [In in TranslatedFormat]?: string };

const TABLE = {
  instructions: ['TT TT TT', 'system prompt'],
  laterInstructions: ['TT TT TT', 'system or developer messages between the turns'],
  text: ['TT TT TT', 'text'],
  imageUrl: ['TT TT TT', 'images by URL'],
  imageBase64: ['TT TT TT', 'images in base64'],
  imageDetail: [
    'DT -- TD',
    'resolution of an image (`detail`)',
    { chat: 'image_url.detail', responses: 'input_image.detail' },
  ],
  pdf: [
    'TT TT TT',
    'PDF documents in base64',
    { chat: 'file', messages: 'document', responses: 'input_file' },
  ],
  textDocument: ['TT TT TT', 'plain text documents', { messages: 'document', responses: 'input_file' }],
  documentUrl: [
    '-- RT RT',
    'documents by URL',
    { messages: 'document.source', responses: 'input_file.file_url' },
  ],
  documentContext: ['-- DD --', 'what a caller says about a document (`context`)', 'document.context'],
  fileId: ['RR RR RR', "files by the provider's id"],
  audioInput: ['RR RR RR', 'audio and other kinds of parts'],
  searchResults: ['-- RR --', 'search results given as parts'],
  reasoningText: [
    'DD DD DD',
    "reasoning in an assistant's turn",
    { chat: 'reasoning_content', messages: 'thinking', responses: 'reasoning' },
  ],
  reasoningSeal: [
    'TT DD DT',
    'sealed reasoning (signatures, encrypted content)',
    { chat: 'reasoning_details', messages: 'thinking', responses: 'reasoning' },
  ],
  extraContent: ['DD -- --', '`extra_content` of a tool call'],
  refusals: ['TT -- TT', "refusals in an assistant's turn"],
  functions: ['TT TT TT', 'function tools'],
  strictFunctions: ['TT TT TT', '`strict` of a function'],
  customTools: ['TT -- TT', 'custom tools (free text)'],
  customGrammar: ['DT -- DD', 'grammar of a custom tool'],
  hostedTools: ['DD DD DD', 'hosted tools, only declared'],
  forcedHostedTool: ['RR RR RR', 'hosted tools, forced by the tool choice', 'tool_choice'],
  hostedCalls: ['-- DD DD', "calls of hosted tools in an assistant's turn"],
  toolChoice: ['TT TT TT', 'tool choice auto, none, required, or one tool'],
  allowedTools: ['TT -- TT', 'tool choice among some of the tools', 'tool_choice'],
  parallelToolCalls: [
    'TT TT TT',
    'parallel tool calls on or off',
    { chat: 'parallel_tool_calls', messages: 'tool_choice', responses: 'parallel_tool_calls' },
  ],
  toolCalls: ['TT TT TT', 'tool calls, parallel ones too'],
  functionCall: ['RR -- --', 'the older `functions`, `function_call` and their messages'],
  toolResults: ['TT TT TT', 'results of tools'],
  toolResultImages: [
    'TT TT TT',
    'images in results of tools',
    { chat: 'tool', messages: 'tool_result.image', responses: 'function_call_output.input_image' },
  ],
  toolResultDocuments: [
    'TT TT TT',
    'documents in results of tools',
    { messages: 'tool_result.document', responses: 'function_call_output.input_file' },
  ],
  toolResultErrors: ['-- DD --', 'failed tools (`is_error`)', 'tool_result.is_error'],
  participantNames: ['DD -- --', 'names of participants (`name` of a message)'],
  citations: ['-- DD DD', 'citations'],
  outputCap: ['TT TT TT', 'output cap'],
  stop: ['TR TR --', 'stop sequences', { chat: 'stop', messages: 'stop_sequences' }],
  blankStop: ['R- -- --', 'stop sequences of white space only', { chat: 'stop', messages: 'stop_sequences' }],
  temperature: ['TT TT TT', '`temperature`', 'temperature'],
  topP: ['TT TT TT', '`top_p`', 'top_p'],
  topK: ['TD DD --', '`top_k`', 'top_k'],
  penalties: ['DD -- --', '`frequency_penalty`, `presence_penalty`'],
  seed: ['DD -- --', '`seed`', 'seed'],
  logitBias: ['DD -- --', '`logit_bias`', 'logit_bias'],
  logprobs: ['DD -- DD', 'log probabilities', { chat: 'logprobs', responses: 'top_logprobs' }],
  choices: ['RR -- --', 'several answers at once (`n` above 1)', 'n'],
  jsonObject: [
    'DT -- TD',
    'JSON output without a schema',
    { chat: 'response_format', responses: 'text.format' },
  ],
  jsonSchema: [
    'TT TT TT',
    'JSON output by a schema',
    { chat: 'response_format', messages: 'output_config.format', responses: 'text.format' },
  ],
  schemaBounds: [
    'D- -- -D',
    'bounds in a schema of the output, and members of any name',
    { chat: 'response_format.json_schema.schema', responses: 'text.format.schema' },
  ],
  schemaDescription: [
    'DT -- TD',
    "a schema's description",
    { chat: 'response_format.json_schema.description', responses: 'text.format.description' },
  ],
  reasoningEffort: [
    'TT TT TT',
    'reasoning effort',
    { chat: 'reasoning_effort', messages: 'output_config.effort', responses: 'reasoning.effort' },
  ],
  reasoningBudget: ['-- TT --', 'thinking budget', { messages: 'thinking.budget_tokens' }],
  reasoningOff: [
    'TT TT TT',
    'reasoning off',
    { chat: 'reasoning_effort', messages: 'thinking', responses: 'reasoning.effort' },
  ],
  reasoningDisplay: [
    '-- DD DD',
    'how reasoning is shown (`summary`, `display`)',
    { messages: 'thinking.display', responses: 'reasoning.summary' },
  ],
  verbosity: ['DT -- TD', 'verbosity', { chat: 'verbosity', responses: 'text.verbosity' }],
  cacheControl: ['TD DD --', 'cache breakpoints (`cache_control`)', 'cache_control'],
  user: ['TT TT TT', "the end user's id", { chat: 'user', messages: 'metadata.user_id', responses: 'user' }],
  metadata: ['DT -- TD', '`metadata` of a stored answer', 'metadata'],
  store: ['DD -- DD', '`store`', 'store'],
  promptCacheKey: ['DT -- TD', '`prompt_cache_key`, `prompt_cache_retention`', 'prompt_cache_key'],
  serviceTier: ['TT TT TT', 'service tier', 'service_tier'],
  audioOutput: ['RR -- --', 'audio output (`modalities`, `audio`)'],
  webSearchOptions: ['DD -- --', '`web_search_options`'],
  mcpServers: ['-- DD --', '`mcp_servers`'],
  serverState: ['-- -- RR', '`previous_response_id`, `conversation`'],
  itemReferences: ['-- -- RR', 'texts and calls that a provider stored (`item_reference`)'],
  promptTemplates: ['-- -- RR', '`prompt` templates'],
  background: ['-- -- RR', '`background`'],
  moderation: ['-- -- RR', '`moderation`'],
  otherItems: ['-- -- RR', 'other items of the input (computer, shell, code, images, compaction)'],
  namespaces: ['-- -- TT', 'tools in namespaces'],
  inputTools: ['-- -- TT', 'tools declared in the input (`additional_tools`)'],
  toolSearch: ['-- -- TT', 'a search for tools that the client runs (`tool_search`)'],
  localShellCalls: ['-- -- TT', 'calls of the local shell'],
  unknownMember: ['DD DD DD', 'any other member'],
} as const satisfies Readonly<Record<string, Row>>;

export type Feature = keyof typeof TABLE;

export const FEATURES: Readonly<Record<Feature, Row>> = TABLE;

/** Undefined where the caller's format does not have the feature. */
export function treatmentOf(feature: Feature, direction: Direction): Treatment | undefined {
  const letters = FEATURES[feature][0].replaceAll(' ', '');
  return TREATMENTS[letters.charAt((DIRECTIONS as readonly Direction[]).indexOf(direction)) as Letter];
}

/** The feature as the documentation names it. */
export function nameOf(feature: Feature): string {
  return FEATURES[feature][1];
}

/** The feature's name in this format; its key where it has none of its own. */
export function pathOf(feature: Feature, format: TranslatedFormat): string {
  const path = FEATURES[feature][2];
  return (typeof path === 'object' ? path[format] : path) ?? feature;
}
