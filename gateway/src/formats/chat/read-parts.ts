import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import { defined, optionalText, requireObject, requireText } from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { DocumentPart, ImagePart, ResultPart, TextPart } from '../translation/conversation.ts';
import { documentSource, sourceOfUrl } from '../translation/data-url.ts';
import type { Losses } from '../translation/losses.ts';

/** The parts of a message of a user, an instructor or a tool: a text, or a list. Empty texts say nothing and are left out. */
export function readUserParts(content: unknown, path: string, losses: Losses): readonly ResultPart[] {
  return contentList(content, path).flatMap((part, index) => {
    const read = readPart(part, `${path}[${index}]`, losses);
    return read.type === 'text' && read.text === '' ? [] : [read];
  });
}

/** The parts of a content, whatever form it has. */
export function contentList(content: unknown, path: string): readonly JsonObject[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw new BodyError(`${path} must be a string or a list of parts.`, path);
  return content.map((part, index) => requireObject(part, `${path}[${index}]`));
}

export function readText(part: JsonObject, path: string): TextPart {
  return {
    type: 'text',
    text: requireText(part['text'], `${path}.text`),
    ...readCacheControl(part),
  };
}

function readPart(part: JsonObject, path: string, losses: Losses): ResultPart {
  switch (part['type']) {
    case 'text':
      return readText(part, path);
    case 'image_url':
      return readImage(part, path);
    case 'file':
      return readFile(part, path, losses);
    default:
      losses.lose('audioInput', path);
      throw new BodyError(`${path}.type is not known.`, `${path}.type`);
  }
}

function readImage(part: JsonObject, path: string): ImagePart {
  const image = requireObject(part['image_url'], `${path}.image_url`);
  return {
    type: 'image',
    source: sourceOfUrl(requireText(image['url'], `${path}.image_url.url`)),
    ...defined({ detail: optionalText(image, 'detail', `${path}.image_url.detail`) }),
    ...readCacheControl(part),
  };
}

function readFile(part: JsonObject, path: string, losses: Losses): DocumentPart {
  const file = requireObject(part['file'], `${path}.file`);
  const data = optionalText(file, 'file_data', `${path}.file.file_data`);
  if (data === undefined) {
    losses.lose('fileId', `${path}.file`);
    throw new BodyError(`${path}.file.file_data must be a string.`, `${path}.file.file_data`);
  }
  return {
    type: 'document',
    source: documentSource(data),
    ...defined({ name: optionalText(file, 'filename', `${path}.file.filename`) }),
    ...readCacheControl(part),
  };
}
