import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import {
  asId,
  asNothing,
  asText,
  asWord,
  FILE_TOKENS,
  MESSAGE_TOKENS,
  PromptParts,
  type PromptSize,
  type Rule,
  type Rules,
  rulesOf,
} from '../prompt-parts.ts';
import { MESSAGES_MEMBERS } from './members.ts';

// What a model reads of a message request, in texts to count and in constants that are meant to be too high rather than
// too low.

/** A picture in the finest resolution of the newest models. */
const IMAGE_TOKENS = 5_000;
/** The instructions for the use of tools. */
const TOOLS_TOKENS = 500;
/** A tool that Anthropic defines, such as a text editor: its description is not in the body. */
const DEFINED_TOOL_TOKENS = 2_000;
/** Sealed values (signatures, reasoning that is not shown) are base64 of a text of unknown tokens, about four bytes each. */
const SEALED_CHARACTERS_PER_TOKEN = 4;

// Members by which the provider adds a text of its own to the prompt.
const ADDING = ['mcp_servers', 'container', 'thread'];

/** The member by which a provider compacts a long conversation. */
export const COMPACTING = 'context_management';

/** Splits what a model may read into texts to count and tokens that stand for everything else. */
export function messagesPromptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const parts = new PromptParts();
  addContent(parts, body['system']);
  for (const message of messages) {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addMembers(message, MESSAGE);
  }
  addTools(parts, body['tools']);
  for (const name of ADDING) {
    const value = body[name];
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) parts.addUncountable(name);
  }
  if (compacts(body[COMPACTING])) parts.addUncountable(COMPACTING);
  MESSAGES_MEMBERS.addTo(parts, body);
  return parts.size;
}

/** True if the provider may summarise the conversation first, for which it reads it once more. */
function compacts(management: unknown): boolean {
  const edits = isJsonObject(management) ? management['edits'] : undefined;
  const types = (Array.isArray(edits) ? edits : []).map((edit) => isJsonObject(edit) && edit['type']);
  return types.some((type) => typeof type === 'string' && type.startsWith('compact'));
}

function addTools(parts: PromptParts, tools: unknown): void {
  if (!Array.isArray(tools) || tools.length === 0) return;
  parts.addTokens(TOOLS_TOKENS);
  for (const tool of tools) {
    const type = isJsonObject(tool) ? (tool['type'] ?? 'custom') : 'custom';
    if (type !== 'custom') parts.addTokens(DEFINED_TOOL_TOKENS);
  }
}

/** A text, a list of blocks, or one block without its list. */
function addContent(parts: PromptParts, content: unknown): void {
  if (Array.isArray(content)) for (const block of content) addBlock(parts, block);
  else if (isJsonObject(content)) addBlock(parts, content);
  else parts.addText(content);
}

function addBlock(parts: PromptParts, block: unknown): void {
  const type = isJsonObject(block) ? block['type'] : undefined;
  if (!isJsonObject(block) || typeof type !== 'string') {
    if (typeof block !== 'string') parts.addUncountable(type);
    parts.addText(block);
    return;
  }
  const rules = BLOCKS.get(type);
  if (rules) {
    parts.addMembers(block, rules);
    return;
  }
  switch (type) {
    case 'image':
      parts.addUncountable(type);
      parts.addMedia(block, IMAGE_TOKENS);
      break;
    case 'document':
      addSource(parts, block['source']);
      parts.addMembers(block, DOCUMENT);
      break;
    case 'container_upload':
      parts.addUncountable(type);
      parts.addMedia(block, FILE_TOKENS);
      break;
    default:
      // What other hosted tools found stands in the body, and so does the name of a tool that was searched for.
      if (!type.endsWith('_tool_result') && type !== 'tool_reference') parts.addUncountable(type);
      parts.addText(block);
  }
}

const MESSAGE = rulesOf({ role: asWord, content: addContent });

const asSealed: Rule = (parts, value) => parts.addSealed(value, SEALED_CHARACTERS_PER_TOKEN);
/** The type of a block that stands beside the others as a message does. */
const asFrame: Rule = (parts) => parts.addTokens(MESSAGE_TOKENS);

const TOOL_CALL = rulesOf({ type: asFrame, id: asId, name: asText, input: asText });
const TOOL_RESULT = rulesOf({ type: asFrame, tool_use_id: asId, content: addContent });

/** The members of the blocks of each type. */
const BLOCKS: ReadonlyMap<string, Rules> = new Map([
  ['text', rulesOf({ type: asNothing, text: asText })],
  ['thinking', rulesOf({ type: asNothing, thinking: asText, signature: asSealed })],
  ['redacted_thinking', rulesOf({ type: asNothing, data: asSealed })],
  ['compaction', rulesOf({ type: asNothing, content: asText, encrypted_content: asSealed })],
  ['tool_use', TOOL_CALL],
  ['server_tool_use', TOOL_CALL],
  ['mcp_tool_use', TOOL_CALL],
  ['tool_result', TOOL_RESULT],
  ['mcp_tool_result', TOOL_RESULT],
  ['search_result', rulesOf({ type: asNothing, source: asText, title: asText, content: addContent })],
  ['web_fetch_tool_result', rulesOf({ type: asNothing, tool_use_id: asId, content: addFetched })],
]);

/** The members of a document beside its source. */
const DOCUMENT = rulesOf({ type: asNothing, title: asText, context: asText, source: asNothing });

/** The source of a document, by its type; any other, or none, is a file. */
const SOURCES: ReadonlyMap<unknown, Rules> = new Map([
  ['text', rulesOf({ type: asNothing, data: asText })],
  ['content', rulesOf({ type: asNothing, content: addContent })],
]);

function addSource(parts: PromptParts, source: unknown): void {
  const rules = isJsonObject(source) ? SOURCES.get(source['type']) : undefined;
  if (isJsonObject(source) && rules) {
    parts.addMembers(source, rules);
    return;
  }
  parts.addUncountable('document');
  parts.addMedia(isJsonObject(source) ? source : source ? { data: source } : {}, FILE_TOKENS);
}

const FETCHED = rulesOf({ content: addBlock });

function addFetched(parts: PromptParts, found: unknown): void {
  if (isJsonObject(found) && isJsonObject(found['content'])) parts.addMembers(found, FETCHED);
  else parts.addText(found);
}
