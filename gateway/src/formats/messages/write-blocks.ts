import type { JsonObject } from '../../wire/json.ts';
import { defined } from '../translation/body-members.ts';
import { writeCacheControl } from '../translation/cache-control.ts';
import type { DocumentPart, ImagePart, ResultPart } from '../translation/conversation.ts';

export function writeBlock(part: ResultPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...writeCacheControl(part) };
    case 'image':
      return { type: 'image', source: writeSource(part.source), ...writeCacheControl(part) };
    case 'document': {
      const { name, context } = part;
      return {
        type: 'document',
        source: writeSource(part.source),
        ...defined({ title: name, context }),
        ...writeCacheControl(part),
      };
    }
  }
}

function writeSource(source: ImagePart['source'] | DocumentPart['source']): JsonObject {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
  }
}
