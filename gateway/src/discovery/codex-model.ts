import type { Model } from './model-document.ts';

// Codex sends these instructions to the model. Without any in the list, it would send none.
const INSTRUCTIONS = `You are a coding agent in Codex, a program in a person's terminal, and work on the files of one folder.
Look at the code around a change and follow its style. Use your tools to run commands and edit files. Make the smallest change that does the task, and run the tests that cover it.
Go on until the task is done or needs a decision. Do not undo the person's work, do not commit unless asked, never invent the output of a command.
Answer briefly, in plain text: what you changed, where, and how you checked it.`;

/** A model in the form that Codex's list of models needs; it refuses a list in which a member is missing. */
export function codexModel({ row: { name, maxInputTokens } }: Model) {
  return {
    slug: name,
    display_name: name,
    description: null,
    // Whether a model reasons, and how much it can be asked to, is not in the catalogue.
    supported_reasoning_levels: [],
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority: 0,
    base_instructions: INSTRUCTIONS,
    support_verbosity: false,
    supports_parallel_tool_calls: true,
    truncation_policy: { mode: 'tokens', limit: 10_000 },
    experimental_supported_tools: [],
    ...(maxInputTokens !== null && { context_window: Number(maxInputTokens) }),
  };
}
