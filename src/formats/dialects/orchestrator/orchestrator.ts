import type { DiagnosticCode } from '../../../graph/diagnostics/diagnostic.js';
import { didYouMean } from '../../../graph/names.js';
import { entryOf } from '../../text/located.js';
import type { Dialect } from '../dialect.js';
import { lowerDocument } from './document.js';
import { documentSchema } from './editor-schema/document-schema.js';
import { documentOfXml } from './xml-document.js';

/** Workflows as graphs of nodes with references: `workflows` with `graph`, in YAML, JSON and XML. */
export const orchestrator: Dialect = {
  id: 'orchestrator',
  recognise: (document) => entryOf(document, 'workflows')?.value.kind === 'map',
  lower: lowerDocument,
  editorSchema: documentSchema,
  hint: ({ code, params = {} }) => HINTS[code]?.(params),
  xml: documentOfXml,
};

/** Repairs of faults that the checker finds, as they are written in spec files. */
const HINTS: {
  readonly [C in DiagnosticCode]?: (params: Readonly<Record<string, unknown>>) => string | undefined;
} = {
  SW3004: ({ isOutcome }) =>
    isOutcome === true
      ? 'read how a node settled that this one can wait for'
      : 'remove one of the references, or of the `depends_on`, that lead back',
  SW3020: ({ name, cause, step }) => SETTLED_HINTS[String(cause)]?.(String(name), String(step)),
  SW3010: ({ step }) => `use \`$${String(step)}\`, or remove the node`,
  SW3013: ({ argument, path }) => lengthHint(argument, path),
  SW3016: () =>
    'ask first which form it has: with a `when`, or the cases of a branch, on the field that tells them apart',
  SW3011: ({ name }) => `use \`$${String(name)}\`, or remove the parameter`,
  SW3021: textHint,
  SW3022: textHint,
  SW4001: ({ suggestion }) =>
    suggestion === undefined ? 'name a tool of the registry' : `did you mean \`${String(suggestion)}\`?`,
  SW4005: ({ of, step, path, suggestion }) =>
    lengthHint(step, path) ??
    didYouMean(suggestion as string | undefined) ??
    (of === 'the outcome of'
      ? 'it has `status` and `error`, with `code`, `message`, `attempts` and `node`'
      : 'name a part that the tool returns, or add it to the output schema of the tool'),
  SW4006: () =>
    'remove one of these references, `depends_on` or `goto`: a `goto` leads forward; what runs again is the list of a node with `repeat` and `until`',
  SW4009: () => 'give one of them another id',
  SW4013: ({ end, step }) => `give \`${String(end)}\` a \`when\`, or remove \`${String(step)}\``,
  SW4014: ({ tool, upstream }) =>
    `leave \`retry\` out, unless \`${String(tool)}\` says that a second call does no harm: by ${upstream === undefined ? '`retrySafety` of its class' : `\`idempotentHint\` of the server \`${String(upstream)}\``}`,
  SW4015: ({ option }) => WRITTEN_NUMBERS[String(option)],
  SW4021: ({ step }) => `name \`${String(step)}\` in a \`goto\` or a \`fallback\`, or remove it`,
  SW4020: () => 'add a node without `depends_on` that no `goto`, `fallback` or `on_partial_failure` names',
  SW4022: () => 'add a `default` to the branch',
  SW4024: ({ step }) =>
    `write \`?\` behind the reference if it may be missing, or let \`${String(step)}\` depend on a node that runs on every path`,
  SW4028: () =>
    'add a node of `type: compensate` and name it in `on_partial_failure`, or add `compensate` to a call',
  SW4037: ({ tool }) =>
    `add \`compensate\` to the call; if \`${String(tool)}\` changes nothing, let the tool say so`,
  SW4046: () =>
    'add `on_failure: compensate` to the workflow, or call it in a branch of a `parallel` node with `on_partial_failure: rollback_all`',
};

/** How numbers of the graph with another name or unit are written, by their names there. */
const WRITTEN_NUMBERS: Readonly<Record<string, string>> = {
  attempts: 'it is written `retry`, which counts the attempts after the first',
  delayMs: 'it is written `delay`',
  capMs: 'it is written `max_delay`',
  durationMs: 'it is written `wait`',
  max: 'it is written `max_iterations`',
};

/** The repair of a reference to the length of a value. */
function lengthHint(name: unknown, path: unknown): string | undefined {
  const parts = String(path).split('.');
  if (parts.pop() !== 'length') return undefined;
  const list = ['', ...parts].join('.');
  return `write \`length($${String(name)}${list})\` in a condition, or in \`\${…}\` elsewhere`;
}

/** The repair of a value that a text cannot have. */
function textHint({ name, actual, field }: Readonly<Record<string, unknown>>): string {
  const value = name === undefined ? '…' : String(name);
  if (actual === 'an object')
    return `name a part of it, \`\${${value}.${String(field ?? '…')}}\`, or write JSON, \`\${${value}|json}\``;
  if (actual === 'a list')
    return `write JSON, \`\${${value}|json}\`, or join its items, \`\${join($${value}, ', ')}\``;
  return `write \`\${${value}?}\` for an empty text, or \`\${$${value} ?? '…'}\``;
}

/** Repairs of conditions on how a node settled that never hold, by the cause. */
const SETTLED_HINTS: Readonly<Record<string, (name: string, step: string) => string>> = {
  failure: (name) =>
    `add \`error_as_data: true\` or a \`fallback\` to \`${name}\`, or \`fail_fast: false\` to the workflow`,
  result: (name) => `add \`error_as_data: true\` or a \`fallback\` to \`${name}\``,
  join: (name, step) =>
    `add \`join: all_done\` to \`${step}\`, or leave \`${name}\` out of its \`depends_on\`: the reference waits for it`,
  step: () => 'compare with another status, or remove the condition',
};
