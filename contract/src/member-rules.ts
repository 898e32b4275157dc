/** A rule about one top-level member of a gateway request, for a catalogue's `deny` and `allow`. */
export interface MemberRule {
  readonly member: string;
  /** In `deny`, the values that remain allowed; in `allow`, additionally allowed values; null for the whole member. */
  readonly values: readonly string[] | null;
}

/**
 * What is denied on the platform's credential unless the provider has a `deny` list of its own: members that make the
 * provider charge more than the route's price, or route the request elsewhere.
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
  { member: 'tools', values: ['function', 'custom'] },
  { member: 'web_search_options', values: null },
  { member: 'search_parameters', values: null },
  { member: 'enable_search', values: null },
  { member: 'mcp_servers', values: null },
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
