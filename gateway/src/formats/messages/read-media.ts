import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import { defined, optionalText, requireObject, requireText } from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { DocumentPart, ImagePart } from '../translation/conversation.ts';
import { mediaTypeOf } from '../translation/data-url.ts';
import type { Losses } from '../translation/losses.ts';

export function readImage(block: JsonObject, path: string, losses: Losses): ImagePart {
  const source = requireObject(block['source'], `${path}.source`);
  return { type: 'image', source: readSource(source, `${path}.source`, losses), ...readCacheControl(block) };
}

export function readDocument(block: JsonObject, path: string, losses: Losses): DocumentPart {
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
