import { memberTable } from '../member-table.ts';

/** The members of `POST /v1/messages`. */
export const MESSAGES_MEMBERS = memberTable({
  model: ['common', 'judged', 'counted', 'translated'],
  messages: ['common', 'judged', 'counted', 'translated'],
  system: ['common', 'judged', 'counted', 'translated'],
  max_tokens: ['common', 'judged', 'translated'],
  stream: ['common', 'judged', 'translated'],
  stop_sequences: ['common', 'translated'],
  temperature: ['common', 'translated'],
  top_p: ['common', 'translated'],
  top_k: ['common', 'translated'],
  tools: ['common', 'judged', 'read', 'translated'],
  tool_choice: ['common', 'translated'],
  thinking: ['common', 'judged', 'translated'],
  metadata: ['common', 'translated'],
  output_config: ['judged', 'read', 'translated'],
  output_format: ['judged', 'read', 'translated'],
  service_tier: ['setting', 'translated'],
  speed: ['setting'],
  mcp_servers: ['judged', 'mcpServers'],
  container: ['judged'],
  thread: ['judged'],
  context_management: ['judged'],
  cache_control: ['translated'],
});
