import type { Model } from './model-document.ts';

// What Codex tells the model of its work. It sends what the list gives it, and without any the model would not know
// what it is there for.
const INSTRUCTIONS = `You are a coding agent. You work with a person in Codex, a program in their terminal, on the files of one folder.
Read before you change: look at the code around a change and follow its style. Use the tools you are given to run commands and to edit files; make the smallest change that does the task, and do not touch what it does not concern. Run the tests that cover it where there are any.
Go on until the task is done or you need a decision from the person. Do not undo work of theirs, do not commit unless asked, and never invent the output of a command.
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
