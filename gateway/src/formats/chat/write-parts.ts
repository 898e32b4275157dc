import type { JsonObject } from '../../wire/json.ts';
import { defined } from '../translation/body-members.ts';
import type { DocumentPart, ResultPart, TextPart } from '../translation/conversation.ts';
import { urlOfSource } from '../translation/data-url.ts';
import type { Losses } from '../translation/losses.ts';

/** One text as itself, several as parts. */
export function writeTexts(parts: readonly TextPart[]): string | JsonObject[] {
  const [first, ...others] = parts;
  if (!first) return '';
  return others.length === 0 ? first.text : parts.map(({ text }) => ({ type: 'text', text }));
}

export function writePart(part: ResultPart, losses: Losses): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image': {
      const { detail } = part;
      return { type: 'image_url', image_url: { url: urlOfSource(part.source), ...defined({ detail }) } };
    }
    case 'document':
      return writeDocument(part, losses);
  }
}

function writeDocument({ source, name, context }: DocumentPart, losses: Losses): JsonObject {
  if (source.kind === 'text') {
    const text = [name, context, source.text].filter((line) => line !== undefined).join('\n\n');
    return { type: 'text', text };
  }
  if (source.kind === 'url') losses.lose('documentUrl');
  if (context !== undefined) losses.lose('documentContext');
  return { type: 'file', file: { filename: name ?? 'document.pdf', file_data: urlOfSource(source) } };
}
