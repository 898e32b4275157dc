import { isJsonObject, type JsonObject } from '../json.ts';
import { FILE_TOKENS, MESSAGE_TOKENS, PromptParts, type PromptSize } from '../prompt-parts.ts';

// What a model reads of a message request, in texts to count and in constants that are meant to be too high rather than
// too low.

/** A picture in the finest resolution of the newest models. */
const IMAGE_TOKENS = 5_000;
/** The instructions for the use of tools. */
const TOOLS_TOKENS = 500;
/** A tool that Anthropic defines, such as a text editor: its description is not in the body. */
const DEFINED_TOOL_TOKENS = 2_000;
/** What is sealed (signatures, reasoning that is not shown) is base64 of a text of unknown tokens, about four bytes each. */
const SEALED_CHARACTERS_PER_TOKEN = 4;

// Members that a model reads besides its messages and the system prompt, as JSON.
const READ_AS_JSON = ['tools', 'output_config', 'output_format'];
// Members by which the provider adds a text of its own to the prompt.
const ADDING = ['mcp_servers', 'container', 'thread'];

/** The member by which a provider compacts a long conversation. */
export const COMPACTING = 'context_management';

/** Splits what a model will read into texts to count and tokens that stand for everything else. */
export function messagesPromptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const parts = new PromptParts();
  addContent(parts, body['system']);
  for (const { role, content, ...others } of messages) {
    parts.addTokens(MESSAGE_TOKENS);
    addContent(parts, content);
    for (const value of Object.values(others)) parts.addText(value);
  }
  for (const name of READ_AS_JSON) parts.addText(body[name]);
  addTools(parts, body['tools']);
  for (const name of ADDING) {
    const value = body[name];
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) parts.addUncountable(name);
  }
  if (compacts(body[COMPACTING])) parts.addUncountable(COMPACTING);
  return parts.size;
}

/** Whether the provider may summarise the conversation first, for which it reads it once more. */
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
  switch (type) {
    case 'text':
      parts.addText(block['text']);
      break;
    case 'thinking':
      parts.addText(block['thinking']);
      addSealed(parts, block['signature']);
      break;
    case 'redacted_thinking':
      addSealed(parts, block['data']);
      break;
    case 'compaction':
      parts.addText(block['content']);
      addSealed(parts, block['encrypted_content']);
      break;
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      parts.addTokens(MESSAGE_TOKENS);
      parts.addText(block['name']);
      parts.addText(block['input']);
      break;
    case 'tool_result':
    case 'mcp_tool_result':
      parts.addTokens(MESSAGE_TOKENS);
      addContent(parts, block['content']);
      break;
    case 'search_result':
      parts.addText(block['source']);
      parts.addText(block['title']);
      addContent(parts, block['content']);
      break;
    case 'document':
      addDocument(parts, block);
      break;
    case 'image':
      parts.addUncountable(type);
      parts.addTokens(IMAGE_TOKENS);
      break;
    case 'container_upload':
      parts.addUncountable(type);
      parts.addTokens(FILE_TOKENS);
      break;
    case 'web_fetch_tool_result':
      addFetched(parts, block['content']);
      break;
    default:
      // What other hosted tools found stands in the body, and so does the name of a tool that was searched for.
      if (!type.endsWith('_tool_result') && type !== 'tool_reference') parts.addUncountable(type);
      parts.addText(block);
  }
}

function addDocument(parts: PromptParts, { title, context, source }: JsonObject): void {
  parts.addText(title);
  parts.addText(context);
  const type = isJsonObject(source) ? source['type'] : undefined;
  if (isJsonObject(source) && type === 'text') {
    parts.addText(source['data']);
  } else if (isJsonObject(source) && type === 'content') {
    addContent(parts, source['content']);
  } else {
    parts.addUncountable('document');
    parts.addTokens(FILE_TOKENS);
  }
}

function addFetched(parts: PromptParts, found: unknown): void {
  const document = isJsonObject(found) ? found['content'] : undefined;
  if (isJsonObject(document)) addBlock(parts, document);
  else parts.addText(found);
}

function addSealed(parts: PromptParts, value: unknown): void {
  if (typeof value === 'string') parts.addTokens(Math.ceil(value.length / SEALED_CHARACTERS_PER_TOKEN));
}
