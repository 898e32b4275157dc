import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import { optionalText, requireList, requireObject, requireText } from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { DocumentPart, ImagePart, ResultPart, TextPart } from '../translation/conversation.ts';
import { documentSource, sourceOfUrl } from '../translation/data-url.ts';
import type { Losses } from '../translation/losses.ts';

/** The parts of a message of the user, the instructions or a tool: a string, or a list. Empty texts say nothing. */
export function readParts(value: unknown, path: string, losses: Losses): ResultPart[] {
  const parts =
    typeof value === 'string'
      ? [{ type: 'text', text: value } as const]
      : requireList(value, path).map((part, index) =>
          readPart(requireObject(part, `${path}[${index}]`), `${path}[${index}]`, losses),
        );
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

/** The same where only text has a place. */
export function readTexts(value: unknown, path: string, losses: Losses): TextPart[] {
  return readParts(value, path, losses).map((part) => {
    if (part.type !== 'text') throw new BodyError(`${path} must be text.`, path);
    return part;
  });
}

function readPart(part: JsonObject, path: string, losses: Losses): ResultPart {
  const type = requireText(part['type'], `${path}.type`);
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requireText(part['text'], `${path}.text`), ...readCacheControl(part) };
    case 'input_image':
      return readImage(part, path, losses);
    case 'input_file':
      return readFile(part, path, losses);
    case 'input_audio':
      return unavailable('audioInput', path, type, losses);
    default:
      throw new BodyError(
        `${path} is of the type ${type.slice(0, 64).toWellFormed()}, which is not known here.`,
        path,
      );
  }
}

function readImage(part: JsonObject, path: string, losses: Losses): ImagePart {
  const url = optionalText(part, 'image_url', `${path}.image_url`);
  if (url === undefined) return unavailable('fileId', path, 'file_id', losses);
  const detail = optionalText(part, 'detail', `${path}.detail`);
  return {
    type: 'image',
    source: sourceOfUrl(url),
    ...(detail !== undefined && { detail }),
    ...readCacheControl(part),
  };
}

function readFile(part: JsonObject, path: string, losses: Losses): DocumentPart {
  const data = optionalText(part, 'file_data', `${path}.file_data`);
  const url = optionalText(part, 'file_url', `${path}.file_url`);
  const name = optionalText(part, 'filename', `${path}.filename`);
  const named = { ...(name !== undefined && { name }), ...readCacheControl(part) };
  if (data !== undefined) return { type: 'document', source: documentSource(data), ...named };
  if (url !== undefined) return { type: 'document', source: { kind: 'url', url }, ...named };
  return unavailable('fileId', path, 'file_id', losses);
}

/** Refuses a part of a feature that no other format can take: there is nothing to send in its place. */
function unavailable(feature: 'audioInput' | 'fileId', path: string, type: string, losses: Losses): never {
  losses.lose(feature, path);
  throw new BodyError(`${path} must not be of the kind ${type}: the model's provider cannot take it.`, path);
}

/** Notes citations and log probabilities that a caller sent back with an answer of a model. */
export function discloseAnnotations(part: JsonObject, losses: Losses): void {
  const { annotations } = part;
  if (Array.isArray(annotations) && annotations.length > 0)
    losses.lose('citations', 'input.content.annotations');
}
