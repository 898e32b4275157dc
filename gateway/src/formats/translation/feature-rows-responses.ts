import type { FeatureRows, Treatment } from './feature-table.ts';

type ResponsesDirection =
  | 'chat to responses'
  | 'messages to responses'
  | 'responses to chat'
  | 'responses to messages';

/** The fate of each feature between responses and the other two formats. */
export const RESPONSES_ROWS: FeatureRows<ResponsesDirection> = {
  instructions: everywhere('translated'),
  laterInstructions: everywhere('translated'),
  text: everywhere('translated'),
  imageUrl: everywhere('translated'),
  imageBase64: everywhere('translated'),
  imageDetail: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'dropped',
  },
  pdf: everywhere('translated'),
  textDocument: everywhere('translated'),
  documentContext: { 'messages to responses': 'dropped' },
  documentUrl: {
    'messages to responses': 'translated',
    'responses to chat': 'refused',
    'responses to messages': 'translated',
  },
  fileId: everywhere('refused'),
  audioInput: everywhere('refused'),
  searchResults: { 'messages to responses': 'refused' },
  reasoningText: everywhere('dropped'),
  reasoningSeal: {
    'chat to responses': 'translated',
    'messages to responses': 'dropped',
    'responses to chat': 'dropped',
    'responses to messages': 'translated',
  },
  extraContent: { 'chat to responses': 'dropped' },
  refusals: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'translated',
  },
  functions: everywhere('translated'),
  strictFunctions: everywhere('translated'),
  customTools: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'translated',
  },
  customGrammar: { 'chat to responses': 'translated', ...fromResponses('dropped') },
  namespaces: fromResponses('translated'),
  inputTools: fromResponses('translated'),
  toolSearch: fromResponses('translated'),
  hostedTools: everywhere('dropped'),
  forcedHostedTool: everywhere('refused'),
  hostedCalls: { 'messages to responses': 'dropped', ...fromResponses('dropped') },
  toolChoice: everywhere('translated'),
  allowedTools: { 'chat to responses': 'translated', ...fromResponses('translated') },
  parallelToolCalls: everywhere('translated'),
  toolCalls: everywhere('translated'),
  localShellCalls: fromResponses('translated'),
  functionCall: { 'chat to responses': 'refused' },
  toolResults: everywhere('translated'),
  toolResultImages: everywhere('translated'),
  toolResultDocuments: everywhere('translated'),
  toolResultErrors: { 'messages to responses': 'dropped' },
  participantNames: { 'chat to responses': 'dropped' },
  citations: { 'messages to responses': 'dropped', ...fromResponses('dropped') },
  outputCap: everywhere('translated'),
  stop: toResponses('refused'),
  temperature: everywhere('translated'),
  topP: everywhere('translated'),
  topK: toResponses('dropped'),
  penalties: { 'chat to responses': 'dropped' },
  seed: { 'chat to responses': 'dropped' },
  logitBias: { 'chat to responses': 'dropped' },
  logprobs: { 'chat to responses': 'dropped', ...fromResponses('dropped') },
  choices: { 'chat to responses': 'refused' },
  jsonObject: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'dropped',
  },
  jsonSchema: everywhere('translated'),
  schemaBounds: { 'responses to messages': 'dropped' },
  schemaDescription: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'dropped',
  },
  reasoningEffort: everywhere('translated'),
  reasoningBudget: { 'messages to responses': 'translated' },
  reasoningOff: everywhere('translated'),
  reasoningDisplay: { 'messages to responses': 'dropped', ...fromResponses('dropped') },
  verbosity: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'dropped',
  },
  cacheControl: toResponses('dropped'),
  user: everywhere('translated'),
  metadata: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'dropped',
  },
  store: { 'chat to responses': 'dropped', ...fromResponses('dropped') },
  promptCacheKey: {
    'chat to responses': 'translated',
    'responses to chat': 'translated',
    'responses to messages': 'dropped',
  },
  serviceTier: everywhere('translated'),
  audioOutput: { 'chat to responses': 'refused' },
  webSearchOptions: { 'chat to responses': 'dropped' },
  mcpServers: { 'messages to responses': 'dropped' },
  serverState: fromResponses('refused'),
  itemReferences: fromResponses('refused'),
  promptTemplates: fromResponses('refused'),
  background: fromResponses('refused'),
  moderation: fromResponses('refused'),
  otherItems: fromResponses('refused'),
  unknownMember: everywhere('dropped'),
};

function toResponses(treatment: Treatment): { readonly [In in ResponsesDirection]?: Treatment } {
  return { 'chat to responses': treatment, 'messages to responses': treatment };
}

function fromResponses(treatment: Treatment): { readonly [In in ResponsesDirection]?: Treatment } {
  return { 'responses to chat': treatment, 'responses to messages': treatment };
}

function everywhere(treatment: Treatment): { readonly [In in ResponsesDirection]: Treatment } {
  return {
    'chat to responses': treatment,
    'messages to responses': treatment,
    'responses to chat': treatment,
    'responses to messages': treatment,
  };
}
