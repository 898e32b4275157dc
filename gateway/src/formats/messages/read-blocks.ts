import { defined, isJsonObject } from '../../wire/json.ts';
import type { BodyObject } from '../translation/body-object.ts';
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
import { mediaTypeOf, readCacheControl } from '../translation/part-members.ts';
import { isForeignSeal, reasoningPart, sealOfText } from '../translation/reasoning.ts';
import { textOfInput } from '../translation/tool-input.ts';

/** The blocks that calls of tools that Anthropic runs leave in an assistant's turn. */
const HOSTED_CALL = /^(?:server_tool_use|mcp_tool_use|[a-z_]+_tool_result|container_upload)$/;

export function readUserParts(message: BodyObject): UserPart[] {
  return message
    .content('blocks')
    .flatMap((block): UserPart[] =>
      block.value['type'] === 'tool_result' ? [readResult(block)] : readResultPart(block),
    );
}

export function readAssistantParts(message: BodyObject): AssistantPart[] {
  return message.content('blocks').flatMap(readAssistantPart);
}

export function readTexts(holder: BodyObject, name?: string): TextPart[] {
  return holder.content('blocks', name).flatMap((block) => {
    if (block.value['type'] !== 'text') throw block.error('type', 'must be text.');
    return readText(block);
  });
}

/** None for an empty text, which says nothing. */
function readText(block: BodyObject): TextPart[] {
  const text = block.text('text');
  const { citations } = block.value;
  if (Array.isArray(citations) && citations.length > 0) block.lose('citations', 'citations');
  return text === '' ? [] : [{ type: 'text', text, ...readCacheControl(block) }];
}

function readResultPart(block: BodyObject): ResultPart[] {
  switch (block.value['type']) {
    case 'text':
      return readText(block);
    case 'image':
      return [readImage(block)];
    case 'document':
      return [readDocument(block)];
    case 'tool_reference':
      // What a search among tools found. Every tool is declared, so its name is all that is missing.
      return [{ type: 'text', text: block.text('tool_name') }];
    case 'search_result':
      block.lose('searchResults');
      return [];
    case 'container_upload':
      block.lose('fileId');
      return [];
    default:
      block.lose('audioInput');
      throw block.error('type', 'is not known.');
  }
}

function readResult(block: BodyObject): ToolResultPart {
  const parts = block.content('blocks').flatMap(readResultPart);
  const isError = block.optionalBoolean('is_error');
  return {
    type: 'toolResult',
    callId: block.text('tool_use_id'),
    parts,
    ...(isError === true && { isError }),
    ...readCacheControl(block),
  };
}

function readAssistantPart(block: BodyObject): AssistantPart[] {
  const type = block.text('type');
  switch (type) {
    case 'text':
      return readText(block);
    case 'compaction': {
      // The summary that stands for the conversation before it.
      const text = block.optionalText('content') ?? '';
      return text === '' ? [] : [{ type: 'text', text }];
    }
    case 'thinking': {
      const text = block.text('thinking');
      return reasoningPart(text, sealIn(block.optionalText('signature') ?? '', 'signature'));
    }
    case 'redacted_thinking':
      return reasoningPart('', sealIn(block.text('data'), 'redacted'));
    case 'tool_use':
      return [
        {
          type: 'toolCall',
          id: block.text('id'),
          kind: 'function',
          name: block.text('name'),
          arguments: textOfInput(block.optionalObject('input')?.value),
          ...readCacheControl(block),
        },
      ];
    default:
      block.lose(HOSTED_CALL.test(type) ? 'hostedCalls' : 'audioInput');
      return [];
  }
}

function sealIn(text: string, kind: 'signature' | 'redacted'): ReasoningSeal | undefined {
  if (isForeignSeal(text)) return sealOfText(text);
  return text === '' ? undefined : { kind, value: text };
}

function readImage(block: BodyObject): ImagePart {
  return { type: 'image', source: readSource(block.object('source')), ...readCacheControl(block) };
}

function readDocument(block: BodyObject): DocumentPart {
  const source = block.object('source');
  const { citations } = block.value;
  if (isJsonObject(citations) && citations['enabled'] === true) block.lose('citations', 'citations');
  return {
    type: 'document',
    source: readDocumentSource(source),
    ...defined({ name: block.optionalText('title'), context: block.optionalText('context') }),
    ...readCacheControl(block),
  };
}

function readDocumentSource(source: BodyObject): DocumentPart['source'] {
  const { type, content } = source.value;
  if (type === 'text') return { kind: 'text', text: source.text('data') };
  if (type !== 'content') return readSource(source);
  if (typeof content === 'string') return { kind: 'text', text: content };
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const texts = blocks.flatMap((block) => (block['type'] === 'text' ? [block['text']] : []));
  if (blocks.length > texts.length) source.lose('audioInput', 'content');
  if (!texts.every((text) => typeof text === 'string')) throw source.error('content', 'must be a string.');
  return { kind: 'text', text: texts.join('\n') };
}

function readSource(source: BodyObject): ImagePart['source'] {
  switch (source.value['type']) {
    case 'url':
      return { kind: 'url', url: source.text('url') };
    case 'base64': {
      const data = source.text('data');
      return { kind: 'base64', mediaType: mediaTypeOf(source.text('media_type'), data), data };
    }
    case 'file':
      source.lose('fileId');
      break;
  }
  throw source.error('type', 'must be base64 or url.');
}
