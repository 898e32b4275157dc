import { defined } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import type { BodyObject } from '../translation/body-object.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type {
  DocumentPart,
  ImagePart,
  RefusalPart,
  ResultPart,
  TextPart,
} from '../translation/conversation.ts';
import { documentSource, sourceOfUrl } from '../translation/data-url.ts';

/** The parts of a message of the user, the instructions or a tool: a string, or a list. Empty texts say nothing. */
export function readParts(holder: BodyObject, name: string): ResultPart[] {
  const { [name]: value } = holder.value;
  const parts: ResultPart[] =
    typeof value === 'string'
      ? [{ type: 'text', text: value }]
      : Array.from(holder.objects(name), (part) => readPart(part));
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

/** The same where only text has a place. */
export function readTexts(holder: BodyObject, name: string): TextPart[] {
  return readParts(holder, name).map((part) => {
    if (part.type !== 'text') throw holder.error(name, 'must be text.');
    return part;
  });
}

/** The parts of an assistant's message. */
export function readAssistantParts(message: BodyObject): (TextPart | RefusalPart)[] {
  if (typeof message.value['content'] === 'string') return readTexts(message, 'content');
  return Array.from(message.objects('content')).flatMap((part): (TextPart | RefusalPart)[] => {
    if (part.value['type'] === 'refusal') return [{ type: 'refusal', text: part.text('refusal') }];
    const { annotations } = part.value;
    if (Array.isArray(annotations) && annotations.length > 0)
      part.losses.lose('citations', 'input.content.annotations');
    const read = readPart(part);
    if (read.type !== 'text') throw new BodyError(`${part.path} must be text.`, part.path);
    return read.text === '' ? [] : [read];
  });
}

function readPart(part: BodyObject): ResultPart {
  const type = part.text('type');
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text('text'), ...readCacheControl(part) };
    case 'input_image':
      return readImage(part);
    case 'input_file':
      return readFile(part);
    case 'input_audio':
      return unavailable('audioInput', part, type);
    default:
      throw new BodyError(
        `${part.path} is of the type ${type.slice(0, 64).toWellFormed()}, which is not known here.`,
        part.path,
      );
  }
}

function readImage(part: BodyObject): ImagePart {
  const url = part.optionalText('image_url');
  if (url === undefined) return unavailable('fileId', part, 'file_id');
  return {
    type: 'image',
    source: sourceOfUrl(url),
    ...defined({ detail: part.optionalText('detail') }),
    ...readCacheControl(part),
  };
}

function readFile(part: BodyObject): DocumentPart {
  const data = part.optionalText('file_data');
  const url = part.optionalText('file_url');
  const named = { ...defined({ name: part.optionalText('filename') }), ...readCacheControl(part) };
  if (data !== undefined) return { type: 'document', source: documentSource(data), ...named };
  if (url !== undefined) return { type: 'document', source: { kind: 'url', url }, ...named };
  return unavailable('fileId', part, 'file_id');
}

/** Refuses a part of a feature that no other format can take: there is nothing to send in its place. */
function unavailable(feature: 'audioInput' | 'fileId', part: BodyObject, kind: string): never {
  part.lose(feature);
  throw new BodyError(
    `${part.path} must not be of the kind ${kind}: the model's provider cannot take it.`,
    part.path,
  );
}
