/**
 * A rule about one top-level member of a gateway request, for a catalogue's `deny` and `allow`. The names of REFERENCES are
 * judged at any depth.
 */
export interface MemberRule {
  readonly member: string;
  /** In `deny`, the values that remain allowed; in `allow`, additionally allowed values; null for the whole member. */
  readonly values: readonly string[] | null;
}

// Tools of Anthropic's that run in the caller's program, or that search only what the request states. Their price is that
// of their tokens.
const UNPRICED_TOOLS = [
  ...['bash_20241022', 'bash_20250124'],
  ...['text_editor_20241022', 'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728'],
  ...['computer_20241022', 'computer_20250124', 'computer_20251124', 'computer_toolset_20260801'],
  ...['browser_toolset_20260801', 'memory_20250818'],
  ...['tool_search_tool_regex_20251119', 'tool_search_tool_bm25_20251119'],
];

/**
 * The members by which a request names what a provider keeps for the account of a key: files, containers, stores and caches.
 * `prompt.id` is a stored prompt, and `audio.id` an earlier answer's recording.
 */
export const REFERENCES = [
  ...['file_id', 'file_ids', 'file_uri', 'container_id', 'vector_store_ids', 'skill_id'],
  ...['cached_content', 'cachedContent', 'prompt.id', 'audio.id'],
] as const;

/**
 * Members that are denied on the platform's credential unless the provider has a `deny` list of its own: members that make the provider
 * charge more than the route's price, route the request elsewhere, or reach what the provider keeps for the platform's account, which is no
 * organisation's own.
 */
export const DEFAULT_DENY: readonly MemberRule[] = [
  // More expensive processing.
  {
    member: 'service_tier',
    values: ['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex'],
  },
  { member: 'speed', values: ['standard'] },
  { member: 'inference_geo', values: ['global'] },
  // Searches and hosted tools are charged per call. A tool is identified by its `type`.
  { member: 'tools', values: ['function', 'custom', ...UNPRICED_TOOLS] },
  { member: 'web_search_options', values: null },
  { member: 'search_parameters', values: null },
  { member: 'enable_search', values: null },
  { member: 'mcp_servers', values: null },
  // Charged by the hour, and kept by the provider with the files in it.
  { member: 'container', values: null },
  // Answers and conversations that the provider keeps, those of all organisations in the platform's one account.
  { member: 'previous_response_id', values: null },
  { member: 'conversation', values: null },
  { member: 'thread', values: null },
  ...REFERENCES.map((member) => ({ member, values: null })),
  // Reached with the credential of the account.
  { member: 'data_sources', values: null },
  // Raise what a request may use, or its price. In a header they follow the provider's `beta_headers`.
  { member: 'anthropic_beta', values: null },
  { member: 'betas', values: null },
  { member: 'billing_policy', values: null },
  // An answer that is fetched later: nobody would see what it used.
  { member: 'background', values: null },
  { member: 'deferred', values: null },
  // Audio and images have separate prices.
  { member: 'modalities', values: ['text'] },
  { member: 'audio', values: null },
  // Let a router choose another model, provider or plugin.
  { member: 'models', values: null },
  { member: 'route', values: null },
  { member: 'provider', values: null },
  { member: 'plugins', values: null },
  { member: 'preset', values: null },
  { member: 'fallbacks', values: null },
];
