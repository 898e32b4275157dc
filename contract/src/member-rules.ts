/** A rule about one top-level member of a gateway request, as a catalogue's `deny` and `allow` have it. */
export interface MemberRule {
  readonly member: string;
  /** In `deny` the values that stay allowed, in `allow` those that are allowed besides; null for the member as a whole. */
  readonly values: readonly string[] | null;
}

/**
 * What a provider refuses on the platform's credential unless its catalogue has a `deny` of its own: members that make
 * the provider charge more than a route's price says, or send the request somewhere else than the route does.
 */
export const DEFAULT_DENY: readonly MemberRule[] = [
  // Dearer processing.
  {
    member: 'service_tier',
    values: ['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex'],
  },
  { member: 'speed', values: ['standard'] },
  { member: 'inference_geo', values: ['global'] },
  // Searches and hosted tools are charged by the call. A tool is known by its `type`.
  { member: 'tools', values: ['function', 'custom'] },
  { member: 'web_search_options', values: null },
  { member: 'search_parameters', values: null },
  { member: 'enable_search', values: null },
  { member: 'mcp_servers', values: null },
  // Audio and pictures have prices of their own.
  { member: 'modalities', values: ['text'] },
  { member: 'audio', values: null },
  // A router's choice of another model, provider or plugin.
  { member: 'models', values: null },
  { member: 'route', values: null },
  { member: 'provider', values: null },
  { member: 'plugins', values: null },
  { member: 'preset', values: null },
  { member: 'fallbacks', values: null },
];
