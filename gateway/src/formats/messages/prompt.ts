import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { FILE_TOKENS, MESSAGE_TOKENS, PromptParts, type PromptSize } from '../prompt-parts.ts';
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

// Members that a model reads besides its messages and the system prompt, as JSON.
const READ_AS_JSON = ['tools', 'output_config', 'output_format'];
// Members by which the provider adds a text of its own to the prompt.
const ADDING = ['mcp_servers', 'container', 'thread'];

/** The member by which a provider compacts a long conversation. */
export const COMPACTING = 'context_management';

const COUNTED_OF_MESSAGE: ReadonlySet<string> = new Set(['role', 'content']);

/** Splits what a model may read into texts to count and tokens that stand for everything else. */
export function messagesPromptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const parts = new PromptParts();
  addContent(parts, body['system']);
  for (const message of messages) {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addWord(message['role']);
    addContent(parts, message['content']);
    parts.addOthers(message, COUNTED_OF_MESSAGE);
  }
  for (const name of READ_AS_JSON) parts.addText(body[name]);
  addTools(parts, body['tools']);
  for (const name of ADDING) {
    const value = body[name];
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) parts.addUncountable(name);
  }
  if (compacts(body[COMPACTING])) parts.addUncountable(COMPACTING);
  MESSAGES_MEMBERS.addOthers(parts, body);
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
  const rule = RULES.get(type);
  if (rule) {
    rule.add(parts, block);
    parts.addOthers(block, rule.counted);
    return;
  }
  switch (type) {
    case 'image':
      parts.addUncountable(type);
      parts.addMedia(block, IMAGE_TOKENS);
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

/** How the blocks of a type are counted, and the members that this counts; others count as text. */
interface BlockRule {
  readonly counted: ReadonlySet<string>;
  add(parts: PromptParts, block: JsonObject): void;
}

const TOOL_CALL: BlockRule = {
  counted: new Set(['type', 'id', 'name', 'input']),
  add(parts, block) {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addId(block['id']);
    parts.addText(block['name']);
    parts.addText(block['input']);
  },
};

const TOOL_RESULT: BlockRule = {
  counted: new Set(['type', 'tool_use_id', 'content']),
  add(parts, block) {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addId(block['tool_use_id']);
    addContent(parts, block['content']);
  },
};

const RULES: ReadonlyMap<string, BlockRule> = new Map<string, BlockRule>([
  ['text', { counted: new Set(['type', 'text']), add: (parts, block) => parts.addText(block['text']) }],
  [
    'thinking',
    {
      counted: new Set(['type', 'thinking', 'signature']),
      add(parts, block) {
        parts.addText(block['thinking']);
        parts.addSealed(block['signature'], SEALED_CHARACTERS_PER_TOKEN);
      },
    },
  ],
  [
    'redacted_thinking',
    {
      counted: new Set(['type', 'data']),
      add: (parts, block) => parts.addSealed(block['data'], SEALED_CHARACTERS_PER_TOKEN),
    },
  ],
  [
    'compaction',
    {
      counted: new Set(['type', 'content', 'encrypted_content']),
      add(parts, block) {
        parts.addText(block['content']);
        parts.addSealed(block['encrypted_content'], SEALED_CHARACTERS_PER_TOKEN);
      },
    },
  ],
  ['tool_use', TOOL_CALL],
  ['server_tool_use', TOOL_CALL],
  ['mcp_tool_use', TOOL_CALL],
  ['tool_result', TOOL_RESULT],
  ['mcp_tool_result', TOOL_RESULT],
  [
    'search_result',
    {
      counted: new Set(['type', 'source', 'title', 'content']),
      add(parts, block) {
        parts.addText(block['source']);
        parts.addText(block['title']);
        addContent(parts, block['content']);
      },
    },
  ],
  ['document', { counted: new Set(['type', 'title', 'context', 'source']), add: addDocument }],
  [
    'web_fetch_tool_result',
    {
      counted: new Set(['type', 'tool_use_id', 'content']),
      add(parts, block) {
        parts.addId(block['tool_use_id']);
        addFetched(parts, block['content']);
      },
    },
  ],
]);

const SOURCE_OF_TEXT: ReadonlySet<string> = new Set(['type', 'data']);
const SOURCE_OF_BLOCKS: ReadonlySet<string> = new Set(['type', 'content']);

function addDocument(parts: PromptParts, { title, context, source }: JsonObject): void {
  parts.addText(title);
  parts.addText(context);
  const type = isJsonObject(source) ? source['type'] : undefined;
  if (isJsonObject(source) && type === 'text') {
    parts.addText(source['data']);
    parts.addOthers(source, SOURCE_OF_TEXT);
  } else if (isJsonObject(source) && type === 'content') {
    addContent(parts, source['content']);
    parts.addOthers(source, SOURCE_OF_BLOCKS);
  } else {
    parts.addUncountable('document');
    parts.addMedia(isJsonObject(source) ? source : source ? { data: source } : {}, FILE_TOKENS);
  }
}

const FETCHED: ReadonlySet<string> = new Set(['content']);

function addFetched(parts: PromptParts, found: unknown): void {
  const document = isJsonObject(found) ? found['content'] : undefined;
  if (!isJsonObject(found) || !isJsonObject(document)) {
    parts.addText(found);
    return;
  }
  addBlock(parts, document);
  parts.addOthers(found, FETCHED);
}
