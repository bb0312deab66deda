/**
 * Where values of runs, calls and connections are shown. A secret is on none of them: a property test looks at each, and
 * the reference lists them in these words.
 */
export const SURFACES = {
  conversation: 'conversations of `prompts/get`, hand-offs among them',
  result: 'results and failures of `w_*` tools, `submit_result` and direct calls',
  status: '`get_workflow_status`, `list_workflows`, and runs as resources',
  question: 'questions, and their options',
  progress: 'progress',
  message: 'log messages to the client: `log` of the context',
  log: 'the log of the server: `log` of its options',
  middleware: '`shownInput`, `shownValue` and failures that middleware gets',
  dryRun: 'dry runs',
  upstream: 'logs and failures of upstream servers: the variables that their configuration names',
} as const;

export type Surface = keyof typeof SURFACES;
