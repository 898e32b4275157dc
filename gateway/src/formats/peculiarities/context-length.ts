// A conversation that is too long for the model. Coding agents shorten it and go on, if the error tells them so in the words that they
// know: Claude Code looks for Anthropic's sentence, Codex and OpenAI's clients for OpenAI's code. Providers have words of their own.

export const TOO_LONG_CODE = 'context_length_exceeded';
const TOO_LONG_WORDS = 'prompt is too long';

/** The codes and types that mean it, in lower case. */
const CODES: ReadonlySet<string> = new Set([
  TOO_LONG_CODE,
  // llama.cpp
  'exceed_context_size_error',
  // LiteLLM
  'contextwindowexceedederror',
  // GitHub Models
  'tokens_limit_reached',
  'context_window_exceeded',
  'model_context_window_exceeded',
  'prompt_too_long',
  'input_too_long',
]);

const SENTENCES: readonly RegExp[] = [
  // Anthropic, and its second sentence.
  /(?:prompt|input) is too long/,
  /input length and `?max_tokens`? exceed context limit/,
  // OpenAI, vLLM, DeepSeek; Mistral ("too large for model with 32768 maximum context length"); xAI.
  /maximum (?:context|prompt|input) length/,
  /(?:exceed\w*|longer than|larger than|beyond|too large for|too long for) (?:the |this |your |its )?(?:model'?s? |available |maximum |max )*(?:context|prompt)(?: |_)?(?:size|length|window|limit)?/,
  /context(?: |_)(?:size|length|window|limit)\w* (?:is |was |has been |of [^.]{0,60})?exceeded/,
  // Gemini.
  /input token count[^.]{0,60} exceeds? the maximum/,
  // Moonshot.
  /exceeded (?:the )?(?:model )?token limit/,
  // DashScope.
  /range of input length should be/,
  // Text Generation Inference, Together.
  /tokens \+ `?max_new_tokens`? must be/,
  /input validation error: `?inputs`? (?:must have less than|tokens)/,
  /(?:reduce|shorten) (?:the length of )?(?:the|your) (?:messages|prompt|input|conversation|context)/,
  /(?:prompt|input|messages?|conversation) (?:has|have|contains?) [^.]{0,40}tokens[^.]{0,60}(?:exceed|maximum|limit|too (?:large|long))/,
];

/** An output cap that is too large is told in similar words, and a shorter conversation would not help. */
const OF_OUTPUT_CAP =
  /max_(?:completion_|output_|new_)?tokens['"`]*(?: or ['"`]*max_\w+['"`]*)? (?:is |was )?too (?:large|high)/;
/** A limit of tokens a minute, which passes by itself. */
const OF_RATE = /per (?:minute|min|day|hour)\b|\brate limit|\bt[pf]m\b/;
const LOOKED_AT_CHARACTERS = 4_096;

/** True if a provider's error says that the conversation is too long for the model: by its words, or by a code or type beside them. */
export function isTooLong(message: string, ...codes: readonly unknown[]): boolean {
  if (codes.some((code) => typeof code === 'string' && CODES.has(code.toLowerCase()))) return true;
  const text = message.slice(0, LOOKED_AT_CHARACTERS).toLowerCase();
  if (OF_OUTPUT_CAP.test(text) || OF_RATE.test(text)) return false;
  return SENTENCES.some((sentence) => sentence.test(text));
}

/** The message with Anthropic's words before it, unless it has them. */
export function inAnthropicsWords(message: string): string {
  return message.toLowerCase().startsWith(TOO_LONG_WORDS) ? message : `${TOO_LONG_WORDS}: ${message}`;
}
