import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { GotoNode } from '../../../graph/model.js';
import type { Place } from '../../../graph/place.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { type CallSyntax, unwrap } from '../../verbs.js';
import { print } from '../describe.js';
import { readOptionsOf } from '../options.js';
import { boundToNothing, type StepOutcome } from '../outcome.js';
import { type Linker, refuse } from './linker.js';

/** `goto(this.step, { max })`: goes back to the first node of an earlier step of the workflow. */
export function linkGoto(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [step, settings] = args;
  const { scope } = linker;
  const example = 'goto(this.step, { max: 3 })';
  if (step === undefined || settings === undefined) {
    const what = `a \`goto\` without ${step === undefined ? 'a step' : 'a limit'}`;
    return refuse(linker, callee.place, what, `write \`${example}\``);
  }
  const target = targetOf(linker, step);
  const options = readOptionsOf('goto', settings, scope.report);
  if (scope.inside !== undefined) {
    const why = `the \`goto\` stands inside of \`${scope.inside}\`, and goes back in its own list of steps alone`;
    const hint = `give it a step of its own: \`@Step() again = condition ? goto(…) : undefined\`${besideNull(scope.step.initializer) ? ', with `undefined` and not `null`' : ''}`;
    scope.report(diagnostic('SW3014', callee.place, { target: print(unwrap(step)), why }, { hint }));
    return undefined;
  }
  if (target === undefined || options === undefined) return undefined;
  const { max, onLimit = 'fail' } = options.values;
  // The rules of the options admit nothing else.
  const limit = { max: Number(max), onLimit: onLimit as GotoNode['onLimit'] };
  return linker.outcome({ kind: 'goto', target, ...limit }, {}, boundToNothing);
}

/** Whether the other side of a condition is `null`, which is a value: then the condition is a branch with two arms. */
function besideNull(initializer: ExpressionSyntax): boolean {
  const inner = unwrap(initializer);
  if (inner.kind !== 'conditional') return false;
  return [inner.then, inner.else].map(unwrap).some((side) => side.kind === 'literal' && side.value === null);
}

function targetOf({ scope }: Linker, syntax: ExpressionSyntax): string | undefined {
  const inner = unwrap(syntax);
  const name = stepNamed(inner);
  const refuse = (why: string): undefined => {
    scope.report(diagnostic('SW3014', inner.place, { target: print(inner), why }));
    return undefined;
  };
  if (name === undefined) return refuse('it is no step, such as `this.step`');
  const binding = scope.bindings.resolve(name.text, name.place);
  const first = scope.firstNodeOf(name.text);
  if (binding === undefined || binding.kind === 'faulty' || first !== undefined) return first;
  return refuse('it is no step');
}

function stepNamed(syntax: ExpressionSyntax): { readonly text: string; readonly place: Place } | undefined {
  if (syntax.kind !== 'property' || unwrap(syntax.object).kind !== 'this') return undefined;
  return { text: syntax.name, place: syntax.namePlace };
}
