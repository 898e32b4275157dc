// What a provider of Anthropic's protocol answers.

/** A message that came whole, of these content blocks. */
export function message(content: readonly object[], usage?: object, stopReason = 'end_turn'): object {
  return {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model-2026-01-01',
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    ...(usage && { usage }),
  };
}

export function textMessage(text: string, usage?: object): object {
  return message([{ type: 'text', text }], usage);
}

/** One event of a stream, with its blank line. */
export function event(type: string, members: object = {}, ending = '\n\n'): string {
  const newline = ending.includes('\r') ? '\r\n' : '\n';
  return `event: ${type}${newline}data: ${JSON.stringify({ type, ...members })}${ending}`;
}

export function messageStart(usage?: object): string {
  return event('message_start', { message: { ...message([], usage), stop_reason: null } });
}

export function blockStart(block: object, index = 0): string {
  return event('content_block_start', { index, content_block: block });
}

export function blockDelta(delta: object, index = 0): string {
  return event('content_block_delta', { index, delta });
}

export function textDelta(text: string, index = 0): string {
  return blockDelta({ type: 'text_delta', text }, index);
}

export function blockStop(index = 0): string {
  return event('content_block_stop', { index });
}

export function messageDelta(usage?: object, stopReason: string | null = 'end_turn'): string {
  return event('message_delta', {
    delta: { stop_reason: stopReason, stop_sequence: null },
    ...(usage && { usage }),
  });
}

export const PING = event('ping');
export const MESSAGE_STOP = event('message_stop');

/** A stream of one text, in these pieces. */
export function textStream(pieces: readonly string[], usage: { start: object; end: object }): string[] {
  return [
    messageStart(usage.start),
    blockStart({ type: 'text', text: '' }),
    PING,
    ...pieces.map((piece) => textDelta(piece)),
    blockStop(),
    messageDelta(usage.end),
    MESSAGE_STOP,
  ];
}
