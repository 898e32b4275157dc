import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalText,
  requireObject,
  requireText,
} from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  ReasoningSeal,
  ResultPart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../translation/conversation.ts';
import { mediaTypeOf } from '../translation/data-url.ts';
import type { Losses } from '../translation/losses.ts';
import { isForeignSeal, sealOfText } from '../translation/seals.ts';
import { textOfInput } from '../translation/tool-input.ts';

/** The blocks that calls of tools that Anthropic runs leave in an assistant's turn. */
const HOSTED_CALL = /^(?:server_tool_use|mcp_tool_use|[a-z_]+_tool_result|container_upload)$/;

export function readUserParts(content: unknown, path: string, losses: Losses): UserPart[] {
  return blocksOf(content, path).flatMap((block, index): UserPart[] => {
    const at = `${path}[${index}]`;
    return block['type'] === 'tool_result'
      ? [readResult(block, at, losses)]
      : readResultPart(block, at, losses);
  });
}

export function readAssistantParts(content: unknown, path: string, losses: Losses): AssistantPart[] {
  return blocksOf(content, path).flatMap((block, index) =>
    readAssistantPart(block, `${path}[${index}]`, losses),
  );
}

export function readTexts(content: unknown, path: string, losses: Losses): TextPart[] {
  return blocksOf(content, path).flatMap((block, index) => {
    const at = `${path}[${index}]`;
    if (block['type'] !== 'text') throw new BodyError(`${at}.type must be text.`, `${at}.type`);
    return readText(block, at, losses);
  });
}

function blocksOf(content: unknown, path: string): readonly JsonObject[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw new BodyError(`${path} must be a string or a list of blocks.`, path);
  return content.map((block, index) => requireObject(block, `${path}[${index}]`));
}

/** None for an empty text, which says nothing. */
function readText(block: JsonObject, path: string, losses: Losses): TextPart[] {
  const text = requireText(block['text'], `${path}.text`);
  if (Array.isArray(block['citations']) && block['citations'].length > 0)
    losses.lose('citations', `${path}.citations`);
  return text === '' ? [] : [{ type: 'text', text, ...readCacheControl(block) }];
}

function readResultPart(block: JsonObject, path: string, losses: Losses): ResultPart[] {
  switch (block['type']) {
    case 'text':
      return readText(block, path, losses);
    case 'image':
      return [readImage(block, path, losses)];
    case 'document':
      return [readDocument(block, path, losses)];
    case 'tool_reference':
      // What a search among tools found. Every tool is declared, so its name is all that is missing.
      return [{ type: 'text', text: requireText(block['tool_name'], `${path}.tool_name`) }];
    case 'search_result':
      losses.lose('searchResults', path);
      return [];
    case 'container_upload':
      losses.lose('fileId', path);
      return [];
    default:
      losses.lose('audioInput', path);
      throw new BodyError(`${path}.type is not known.`, `${path}.type`);
  }
}

function readResult(block: JsonObject, path: string, losses: Losses): ToolResultPart {
  const parts = blocksOf(block['content'], `${path}.content`).flatMap((part, index) =>
    readResultPart(part, `${path}.content[${index}]`, losses),
  );
  const isError = optionalBoolean(block, 'is_error', `${path}.is_error`);
  return {
    type: 'toolResult',
    callId: requireText(block['tool_use_id'], `${path}.tool_use_id`),
    parts,
    ...(isError === true && { isError }),
    ...readCacheControl(block),
  };
}

function readAssistantPart(block: JsonObject, path: string, losses: Losses): AssistantPart[] {
  const type = requireText(block['type'], `${path}.type`);
  switch (type) {
    case 'text':
      return readText(block, path, losses);
    case 'compaction': {
      // The summary that stands for the conversation before it.
      const text = optionalText(block, 'content', `${path}.content`) ?? '';
      return text === '' ? [] : [{ type: 'text', text }];
    }
    case 'thinking': {
      const text = requireText(block['thinking'], `${path}.thinking`);
      const signature = optionalText(block, 'signature', `${path}.signature`) ?? '';
      return reasoning(text, sealIn(signature, 'signature'));
    }
    case 'redacted_thinking': {
      const seal = sealIn(requireText(block['data'], `${path}.data`), 'redacted');
      return reasoning('', seal);
    }
    case 'tool_use':
      return [
        {
          type: 'toolCall',
          id: requireText(block['id'], `${path}.id`),
          kind: 'function',
          name: requireText(block['name'], `${path}.name`),
          arguments: textOfInput(requireObject(block['input'], `${path}.input`)),
          ...readCacheControl(block),
        },
      ];
    default:
      losses.lose(HOSTED_CALL.test(type) ? 'hostedCalls' : 'audioInput', path);
      return [];
  }
}

function sealIn(text: string, kind: 'signature' | 'redacted'): ReasoningSeal | undefined {
  if (isForeignSeal(text)) return sealOfText(text);
  return text === '' ? undefined : { kind, value: text };
}

function reasoning(text: string, seal: ReasoningSeal | undefined): AssistantPart[] {
  return text === '' && !seal ? [] : [{ type: 'reasoning', text, ...(seal && { seal }) }];
}

export function readImage(block: JsonObject, path: string, losses: Losses): ImagePart {
  const source = requireObject(block['source'], `${path}.source`);
  return { type: 'image', source: readSource(source, `${path}.source`, losses), ...readCacheControl(block) };
}

function readDocument(block: JsonObject, path: string, losses: Losses): DocumentPart {
  const source = requireObject(block['source'], `${path}.source`);
  if (isJsonObject(block['citations']) && block['citations']['enabled'] === true) {
    losses.lose('citations', `${path}.citations`);
  }
  return {
    type: 'document',
    source: readDocumentSource(source, `${path}.source`, losses),
    ...defined({
      name: optionalText(block, 'title', `${path}.title`),
      context: optionalText(block, 'context', `${path}.context`),
    }),
    ...readCacheControl(block),
  };
}

function readDocumentSource(source: JsonObject, path: string, losses: Losses): DocumentPart['source'] {
  if (source['type'] === 'text') return { kind: 'text', text: requireText(source['data'], `${path}.data`) };
  if (source['type'] !== 'content') return readSource(source, path, losses);
  const { content } = source;
  if (typeof content === 'string') return { kind: 'text', text: content };
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const texts = blocks.flatMap((block) => (block['type'] === 'text' ? [block['text']] : []));
  if (blocks.length > texts.length) losses.lose('audioInput', `${path}.content`);
  return { kind: 'text', text: texts.map((text) => requireText(text, `${path}.content`)).join('\n') };
}

function readSource(source: JsonObject, path: string, losses: Losses): ImagePart['source'] {
  switch (source['type']) {
    case 'url':
      return { kind: 'url', url: requireText(source['url'], `${path}.url`) };
    case 'base64':
      return {
        kind: 'base64',
        mediaType: mediaTypeOf(requireText(source['media_type'], `${path}.media_type`)),
        data: requireText(source['data'], `${path}.data`),
      };
    case 'file':
      losses.lose('fileId', path);
      break;
  }
  throw new BodyError(`${path}.type must be base64 or url.`, `${path}.type`);
}
