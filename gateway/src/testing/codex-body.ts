/** The body of a turn as Codex sends it: pretty printed in places, with numbers and names that must not change. */
export function codexBody(model: string): string {
  return `{"model":${JSON.stringify(model)},"instructions":"You are Codex, a coding agent.","input":[
  {"type":"message","id":"msg_01","role":"developer","content":[{"type":"input_text","text":"<permissions instructions>\\nsandbox: workspace-write"}]},
  {"type":"message","role":"user","content":[{"type":"input_text","text":"List the files\\u002e"}]},
  {"type":"reasoning","id":"rs_01","summary":[{"type":"summary_text","text":"Looking"}],"content":null,"encrypted_content":"gAAAAABo${'Ab3_'.repeat(90)}"},
  {"type":"function_call","id":"fc_01","name":"exec_command","arguments":"{\\"cmd\\":\\"ls\\"}","call_id":"call_01"},
  {"type":"function_call_output","call_id":"call_01","output":"README.md\\n"},
  {"type":"custom_tool_call","status":"completed","call_id":"call_02","name":"apply_patch","input":"*** Begin Patch\\n*** End Patch"},
  {"type":"custom_tool_call_output","call_id":"call_02","output":[{"type":"input_text","text":"Done"}]}
],"tools":[{"type":"function","name":"exec_command","description":"Runs a command.","strict":false,"parameters":{"type":"object","properties":{"cmd":{"type":"string"},"yield_time_ms":{"type":"number","default":1E3}},"required":["cmd"],"additionalProperties":false}},
 {"type":"custom","name":"apply_patch","description":"Use a patch.","format":{"type":"grammar","syntax":"lark","definition":"start: begin_patch hunk+ end_patch"}}, {"type":"web_search","external_web_access":false} ,{"type":"namespace","name":"multi_agent_v1","description":"Agents.","tools":[{"type":"function","name":"spawn_agent","parameters":{"type":"object","properties":{}}}]}],
 "tool_choice":"auto","parallel_tool_calls":false,"reasoning":{"effort":"medium","summary":"auto"},"store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"0199-a1","client_metadata":{"session":9007199254740993}}`;
}
