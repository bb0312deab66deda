import type { Diagnostic, DiagnosticCode } from '../../graph/diagnostics/diagnostic.js';

/** Repairs of faults that the checker finds, as they are written in spec files. */
const HINTS: { readonly [C in DiagnosticCode]?: (params: Readonly<Record<string, unknown>>) => string } = {
  SW3004: () => 'remove one of the references, or of the `depends_on`, that lead back',
  SW3011: ({ name }) => `use \`$${String(name)}\`, or remove the parameter`,
  SW4001: ({ suggestion }) =>
    suggestion === undefined ? 'name a tool of the registry' : `did you mean \`${String(suggestion)}\`?`,
  SW4005: () => 'name a part that the tool returns, or add it to the output schema of the tool',
  SW4009: () => 'give one of them another id',
  SW4020: () => 'add a node without `depends_on` that no `goto`, `fallback` or `on_partial_failure` names',
  SW4022: () => 'add a `default` to the branch',
  SW4024: ({ step }) =>
    `write \`?\` behind the reference if it may be missing, or let \`${String(step)}\` depend on a node that runs on every path`,
  SW4028: () =>
    'add a node of `type: compensate` and name it in `on_partial_failure`, or add `compensate` to a call',
  SW4037: ({ tool }) =>
    `add \`compensate\` to the call; if \`${String(tool)}\` changes nothing, let the tool say so`,
};

/** A diagnostic of the checker with the repair of a spec file. */
export function withSpecHint(diagnostic: Diagnostic): Diagnostic {
  const hint = HINTS[diagnostic.code]?.(diagnostic.params ?? {});
  return hint === undefined ? diagnostic : { ...diagnostic, hint };
}
