import { error, nearest, warning } from './entry.js';

/** What takes the values of a step: a tool, another workflow, or else the state. */
const taker = (p: { tool?: string | undefined; workflow?: string | undefined }): string => {
  if (p.workflow !== undefined) return `workflow \`${p.workflow}\``;
  return p.tool === undefined ? 'the state' : `tool \`${p.tool}\``;
};

/** The workflow of a step, where it is another one. */
const inWorkflow = (p: { workflow?: string }): string =>
  p.workflow === undefined ? '' : ` of workflow \`${p.workflow}\``;

/** Faults of a graph, whichever front end wrote it. */
export const graphFaults = {
  SW4001: error(
    (p: { workflow: string; tool: string; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` requires tool \`${p.tool}\`, which is not registered`,
    nearest,
  ),
  SW4002: error(
    (p: { workflow: string; resource: string; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` requires resource \`${p.resource}\`, which is not registered`,
    nearest,
  ),
  SW4003: error(
    (p: { step: string; tool?: string; workflow?: string; input: string }) =>
      `step \`${p.step}\` gives ${taker(p)} no \`${p.input}\``,
    (p) => `add \`${p.input}\` to the input of the ${p.workflow === undefined ? 'call' : 'workflow'}`,
  ),
  SW4004: error(
    (p: { step: string; tool?: string; workflow?: string; input: string; suggestion?: string | undefined }) =>
      `${taker(p)} of step \`${p.step}\` takes no \`${p.input}\``,
    nearest,
  ),
  SW4005: error(
    (p: {
      path: string;
      step: string;
      of?: 'item' | 'state field' | 'the outcome of' | 'the constant';
      suggestion?: string | undefined;
      // Constants, and items that a parameter takes apart, have no name of the author's.
    }) => `${p.of ?? 'the output of'}${p.step.startsWith('(') ? '' : ` \`${p.step}\``} has no \`${p.path}\``,
    nearest,
  ),
  SW4006: error(
    (p: { cycle: string }) => `steps wait for each other: ${p.cycle}`,
    () => 'remove one of these dependencies',
  ),
  SW4007: error(
    (p: { uri: string; why: string }) => `\`${p.uri}\` is not an absolute URI: ${p.why}`,
    () => 'write a scheme and a path, for example `resource://logseq/intro`',
  ),
  SW4008: error((p: { what: string }) => `${p.what} must not be empty`),
  SW4009: error(
    (p: { id: string }) => `two steps have the id \`${p.id}\``,
    () => 'give one of them another id',
  ),
  SW4011: error((p: { problem: string }) => `the graph is malformed: ${p.problem}`),
  SW4012: error(
    (p: {
      step: string;
      input: string;
      tool?: string;
      workflow?: string;
      expected: string;
      actual: string;
    }) => `\`${p.input}\` of ${taker(p)} takes ${p.expected}, and step \`${p.step}\` gives ${p.actual}`,
  ),
  SW4048: error(
    (p: { step: string; input: string; tool?: string; workflow?: string; value: string; problem: string }) =>
      `step \`${p.step}\` gives \`${p.value}\` for \`${p.input}\` of ${taker(p)}: ${p.problem}`,
  ),
  SW4013: warning(
    (p: { step: string; end: string; ends?: string }) =>
      `step \`${p.step}\` is never reached: \`${p.end}\` always ends ${p.ends ?? 'the run'}`,
    (p) => `give \`${p.end}\` a condition, or remove \`${p.step}\``,
  ),
  SW4014: warning(
    (p: { step: string; tool: string; inside?: string; upstream?: string }) =>
      `step \`${p.step}\` is tried again on failure, and tool \`${p.tool}\`${
        p.inside === undefined ? '' : `, which \`${p.inside}\` calls in it,`
      } may repeat its effect`,
    (p) =>
      p.upstream !== undefined
        ? `do not retry it, unless its server says by \`idempotentHint\` that a second call does no harm: then run \`stepwright pull ${p.upstream}\``
        : `say \`retrySafety: 'idempotent'\` if a second call of \`${p.tool}\` does no harm, or \`'key'\` if it deduplicates by \`context.idempotencyKey\`; else do not retry it`,
  ),
  SW4015: error(
    (p: { what: string; option: string; range: string; value: number }) =>
      `\`${p.option}\` of ${p.what} must be ${p.range}, not ${p.value}`,
  ),
  SW4016: error(
    (p: { step: string; arm: string }) => `two arms of \`${p.step}\` are named \`${p.arm}\``,
    () => 'give one of them another name',
  ),
  SW4017: error(
    (p: { step: string; option: string; target: string; why: string }) =>
      `\`${p.option}\` of step \`${p.step}\` names \`${p.target}\`, ${p.why}`,
    () => 'name a step of the same list of steps',
  ),
  SW4018: error(
    (p: { name: string; where: string }) => `\`${p.name}\` cannot be read here: it is in ${p.where}`,
  ),
  SW4019: error(
    (p: { step: string; target: string; kind: string }) =>
      `step \`${p.step}\` waits for \`${p.target}\`, a step of kind \`${p.kind}\` that runs only when it is selected`,
    () => 'wait for the step that selects it',
  ),
  SW4020: error(
    (p: { scope: string }) =>
      `no step of ${p.scope} can begin: whichever waits for no other only runs when it is selected`,
    () => 'add a step that is selected by no other',
  ),
  SW4021: warning(
    (p: { step: string }) => `step \`${p.step}\` never runs: nothing that runs selects it`,
    (p) => `select \`${p.step}\`, or remove it`,
  ),
  SW4022: warning(
    (p: { step: string; values?: string | undefined }) =>
      `step \`${p.step}\` fails where none of its cases holds${p.values === undefined ? '' : `: for ${p.values}`}`,
    (p) =>
      p.values === undefined
        ? 'add an `else`, or put conditions in the place of `match`'
        : 'add a case for each of them, with nothing in it where nothing is to be done',
  ),
  SW4023: warning(
    (p: { step: string; arm: string; first?: string; values?: string }) =>
      `case \`${p.arm}\` of step \`${p.step}\` is never taken: ${
        p.first === undefined ? `the value is never ${p.values}` : `\`${p.first}\` is taken wherever it holds`
      }`,
    (p) =>
      p.first === undefined
        ? 'remove it, or correct its value'
        : 'remove one of the two, or change its condition',
  ),
  SW4024: warning(
    (p: { name: string; step: string }) =>
      `\`${p.name}\` may have been skipped where \`${p.step}\` reads from it`,
    (p) =>
      `provide for its absence with \`?.\` or \`??\`, or let \`${p.step}\` run only where \`${p.name}\` has`,
  ),
  SW4025: error(
    (p: { step: string; target: string }) =>
      `step \`${p.step}\` goes to \`${p.target}\`, which is not before it`,
    () => 'a `goto` goes back; what comes later is reached by going on',
  ),
  SW4026: error(
    (p: { workflow: string; target: string; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` requires workflow \`${p.target}\`, which is not registered`,
    nearest,
  ),
  SW4027: error(
    (p: { path: string; limit?: number }) =>
      p.limit === undefined
        ? `workflows run each other without a condition: ${p.path}`
        : `more than ${p.limit} workflows run inside each other: ${p.path}`,
    (p) => (p.limit === undefined ? 'say when it is to end' : 'run some of them one after the other'),
  ),
  SW4028: error(
    (p: { step?: string }) =>
      `${p.step === undefined ? 'the workflow is undone when it fails' : `step \`${p.step}\` rolls back`}, and nothing in it says how it is undone`,
    () => 'add `compensate` to a call in it, or let it fail without rolling back',
  ),
  SW4029: error(
    (p: { step: string; actual: string }) =>
      `step \`${p.step}\` goes through a list, and is given ${p.actual}`,
  ),
  SW4030: error(
    (p: { step: string; problem: string }) => `the options of question \`${p.step}\` ${p.problem}`,
    () => 'give one or more different texts',
  ),
  SW4031: error(
    (p: { workflow: string; field: string; suggestion?: string | undefined }) =>
      `the state of workflow \`${p.workflow}\` has no field \`${p.field}\``,
    nearest,
  ),
  SW4032: error(
    (p: { step: string; name: string; outer: string }) =>
      `two loops inside each other, \`${p.outer}\` and \`${p.step}\`, use the name \`${p.name}\``,
    () => 'give one of them another name',
  ),
  SW4033: error(
    (p: { step: string; field: string }) =>
      `step \`${p.step}\` reads the state's field \`${p.field}\`, which it does not declare`,
    (p) => `add \`${p.field}\` to its \`reads\``,
  ),
  SW4034: error(
    (p: { step: string; text: string }) =>
      `step \`${p.step}\` waits until \`${p.text}\`, which is not a time`,
    () => 'write a time such as `2026-01-31T12:00:00Z`, or milliseconds since the epoch',
  ),
  SW4035: error(
    (p: { field: string; problem: string }) =>
      `the first value of the state's field \`${p.field}\` does not fit its schema: ${p.problem}`,
    () => 'correct `initial`, or the schema',
  ),
  SW4037: warning(
    (p: { step: string; tool: string; parallel: string; workflow?: string; upstream?: string }) =>
      `step \`${p.step}\`${inWorkflow(p)} calls \`${p.tool}\`, which nothing undoes when \`${p.parallel}\` rolls back`,
    (p) =>
      p.upstream !== undefined
        ? `add \`compensate\` to the call; if \`${p.tool}\` only reads, its server says so by \`readOnlyHint\`, and \`stepwright pull ${p.upstream}\` reads it`
        : `add \`compensate\` to the call; if \`${p.tool}\` changes nothing, say so with \`annotations: { readOnlyHint: true }\``,
  ),
  SW4038: error(
    (p: { step: string; parameter: string; secret: string; to: string }) =>
      `the ${p.parameter} of \`${p.step}\` gives the secret \`${p.secret}\` to ${p.to}`,
    (p) => `leave the secret out of the ${p.parameter}`,
  ),
  SW4039: error(
    (p: { step: string; problem: string }) => `no caller can answer question \`${p.step}\`: ${p.problem}`,
    () => "name who may answer: `role('lead')`, `owner()`, `human()`, or a list of them",
  ),
  SW4040: warning(
    (p: { tool: string; hint: 'next' | 'requires'; named: string; workflow: string }) =>
      p.hint === 'requires'
        ? `tool \`${p.tool}\` requires \`${p.named}\` by its hints, and workflow \`${p.workflow}\` calls it without`
        : `\`${p.named}\` follows tool \`${p.tool}\` by its hints, and workflow \`${p.workflow}\` calls it before`,
    (p) => `correct the one that is wrong; without \`${p.hint}\` the workflows decide`,
  ),
  SW4041: error(
    (p: { tools: readonly string[] }) =>
      `by their hints ${p.tools.map((tool) => `\`${tool}\``).join(' and ')} require each other`,
    () => 'leave one `requires` out: no order fits all of them',
  ),
  SW4042: warning(
    (p: { tool: string; category: string; candidates: readonly string[] }) =>
      `the category \`${p.category}\` of tool \`${p.tool}\` has no place in the order of work`,
    (p) => `use one of ${p.candidates.map((each) => `\`${each}\``).join(', ')}`,
  ),
  SW4043: error(
    (p: { server: string; named: string; suggestion?: string | undefined }) =>
      `the hints of the upstream server \`${p.server}\` name the tool \`${p.named}\`, which is not one of its tools`,
    (p) =>
      nearest(p) ?? `use a name of its snapshot, which \`npx stepwright pull ${p.server}\` records again`,
  ),
  SW4044: warning(
    (p: { domain: string; suggestion?: string | undefined }) =>
      `the configuration says something about the domain \`${p.domain}\`, which no workflow has`,
    (p) => nearest(p) ?? 'give workflows this domain, or remove the entry',
  ),
  SW4045: warning(
    (p: { server: string }) =>
      `the hints of the upstream server \`${p.server}\` say nothing: no registry has one of its tools`,
    (p) =>
      `record its tools with \`npx stepwright pull ${p.server}\`, and include the file of the classes in a registry; or remove the hints`,
  ),
  SW4046: warning(
    (p: { step: string }) =>
      `step \`${p.step}\` has \`compensate\`, and is never undone when the workflow fails`,
    () =>
      "add `onFailure: 'undo'` to the workflow, or call it inside a `parallel` with `onPartialFailure: 'rollback'`",
  ),
  SW4049: error(
    (p: { step: string; loop: string; agent: string; workflow?: string }) =>
      `step \`${p.step}\`${inWorkflow(p)} asks a person, and \`${p.agent}\` drives the items of \`${p.loop}\``,
    () => 'ask before the loop, or leave the agent out',
  ),
  SW4050: error(
    (p: { step: string; loop: string; agent: string; workflow?: string }) =>
      `step \`${p.step}\`${inWorkflow(p)} hands work to an agent, and \`${p.agent}\` drives the items of \`${p.loop}\``,
    () => 'delegate to the caller, leave one of the agents out, or allow nested agents in the workflow',
  ),
  SW4051: warning(
    (p: { workflow: string; lacks: 'start' | 'tool' }) =>
      p.lacks === 'start'
        ? `workflow \`${p.workflow}\` is a task, and no client can start it`
        : `workflow \`${p.workflow}\` says how its tool is called as a task, and it has no tool`,
    () => 'set the option in the workflow that clients start, or expose this one',
  ),
  SW4052: error(
    (p: { step: string; problem: string }) =>
      `the reminder of question \`${p.step}\` has no effect: ${p.problem}`,
    () => 'remind before the time limit, and escalate to callers who may not answer before that',
  ),
  SW4053: warning(
    (p: { workflow: string; step: string; tool: string }) =>
      `\`${p.workflow}\` is a skill, and says something of step \`${p.step}\`, which calls \`${p.tool}\`: a model may make the call by itself`,
    (p) =>
      `put the guidance on a step that only reads, or on a question before it; if \`${p.tool}\` changes nothing, say so with \`annotations: { readOnlyHint: true }\``,
  ),
  SW4057: error(
    (p: { step: string; problem: string }) => `question \`${p.step}\` cannot approve a call: ${p.problem}`,
    () => 'name a call that comes after the question in the same list, and has its whole input by then',
  ),
  SW4036: error(
    (p: { step: string; code: string; problem: string }) =>
      `step \`${p.step}\` fails with the code \`${p.code}\`, which is ${p.problem}`,
    () => 'write letters, digits and `_`, a letter first, for example `OUT_OF_STOCK`',
  ),
} as const;
