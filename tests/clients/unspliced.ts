/**
 * A body without what the gateway changes on its way to a provider of the same protocol: the model, the output cap, the
 * wish for usage, and the search that Codex declares in every turn.
 */
export function unspliced(text: string): string {
  return text
    .replace(/"model":"[^"]*"/, '"model":""')
    .replace(/,"(?:max_tokens|max_completion_tokens|max_output_tokens)":\d+/, '')
    .replace(/,"stream_options":\{"include_usage":true\}/, '')
    .replace(/,\{"type":"web_search"[^{}]*\}/, '');
}
