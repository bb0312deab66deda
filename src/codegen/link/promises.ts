import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { type CallSyntax, calleeName, symbolOf, unwrap, verbOf } from '../verbs.js';

/** What says the same as a function of `Promise`. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['all', 'write `parallel({ first: call(…), second: call(…) })`'],
  ['allSettled', "write `parallel({ first: call(…), second: call(…) }, { onPartialFailure: 'continue' })`"],
  ['any', 'try one step after the other: `attempt(call(…), (error) => call(…))`'],
  ['race', 'steps do not race each other: limit the time of one with `@Step({ timeoutMs: 5_000 })`'],
  ['resolve', 'write the value itself'],
  ['reject', "write `fail('…')`"],
]);

/** Reports promises and their methods: a step waits by itself, and its name stands for the value. */
export function promiseFault(call: CallSyntax): Diagnostic | undefined {
  const callee = unwrap(call.callee);
  if (callee.kind !== 'property' || callee.symbol !== undefined) return undefined;
  const { name, object, namePlace } = callee;
  const of = symbolOf(object);
  if (of?.kind === 'other' && of.name === 'Promise' && of.file === undefined) {
    const hint = FUNCTIONS.get(name) ?? 'leave it out: a step waits by itself';
    return diagnostic('SW2009', callee.place, { what: `\`Promise.${name}\`` }, { hint });
  }
  const hint = hintForHandler(name, unwrap(object));
  if (hint === undefined) return undefined;
  return diagnostic('SW2009', namePlace, { what: `\`.${name}(…)\`` }, { hint });
}

/** What to write instead of a method that hands on or settles a promise; nothing for other methods. */
function hintForHandler(name: string, object: CallSyntax['callee']): string | undefined {
  const step =
    object.kind === 'call' && verbOf(object) !== undefined ? `${calleeName(object)}(…)` : undefined;
  switch (name) {
    case 'then':
      return step === undefined
        ? 'use the value itself: it is there when the step runs'
        : `write \`chain(${step}, (value) => …)\`, or read from \`this.name\` in a later step`;
    case 'catch':
      return `write \`attempt(${step ?? 'call(…)'}, (error) => …)\``;
    case 'finally':
      return 'write it as the next step: steps run one after the other';
    default:
      return undefined;
  }
}
