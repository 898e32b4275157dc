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
  // Copilot
  'model_max_prompt_tokens_exceeded',
  // Zhipu
  '1261',
  'prompt_too_long',
  'input_too_long',
]);

const SENTENCES: readonly RegExp[] = [
  // Anthropic, and its second sentence; Ollama, Baidu, Zhipu.
  /(?:prompt|input)(?: content| tokens?)?(?: length)?,? (?:is |are )?too long/,
  /prompt *超长/,
  /input length and `?max_tokens`? exceed context limit/,
  // OpenAI, vLLM, DeepSeek; Mistral ("too large for model with 32768 maximum context length"); xAI; vLLM's engine.
  /maximum (?:context|prompt|input|model) length/,
  // LM Studio: "greater than the context length".
  /(?:exceed\w*|longer than|larger than|greater than|beyond|too large for|too long for) (?:the |this |your |its )?(?:model'?s? |available |maximum |max )*(?:context|prompt)(?: |_)?(?:size|length|window|limit)?/,
  // MiniMax: "context window exceeds limit".
  /context(?: |_)(?:size|length|window|limit)\w* (?:(?:is |was |has been |of [^.]{0,60})?exceeded|exceeds)/,
  // Gemini; Bedrock ("number of input tokens exceeds"), watsonx, Copilot.
  /(?:input|prompt) tokens?(?: count)?[^.]{0,60} (?:exceeds?|cannot exceed) (?:the )?(?:configured )?(?:max|limit|total tokens limit)/,
  /input token count[^.]{0,60} only supports up to/,
  // SGLang, Poolside: "input length 131393 exceeds the maximum allowed input length".
  /input length[^.]{0,40} exceeds? the (?:maximum|limit)/,
  // Bedrock (Titan).
  /too many input tokens/,
  // Cohere.
  /tokens in the prompt cannot exceed/,
  // Moonshot.
  /exceeded (?:the )?(?:model )?token limit/,
  // Volcengine.
  /exceeds? max message tokens/,
  // DashScope, twice.
  /range of input length should be/,
  /message token length exceeds? model limit/,
  // Zhipu.
  /prompt exceeds max length/,
  // SiliconFlow.
  /prompt_tokens[^.]{0,40} must be less than max_seq_len/,
  // vLLM, where the prompt alone leaves less than no room.
  /max_(?:completion_)?tokens must be at least 1, got -/,
  // LM Studio.
  /loaded with (?:a )?context length of only/,
  // Text Generation Inference, Together.
  /tokens \+ `?max_new_tokens`? must be/,
  /input validation error: `?inputs`? (?:must have less than|tokens)/,
  /(?:reduce|shorten) (?:the length of )?(?:the|your) (?:messages|prompt|input|conversation|context)/,
  /(?:use|try using|provide) a shorter (?:input|prompt)/,
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
