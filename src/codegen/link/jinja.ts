import { lowerTemplate, type TemplatePosition } from '../../formats/jinja/lower.js';
import { TemplateFault } from '../../formats/jinja/tokens.js';
import { defined } from '../../graph/defined.js';
import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';
import type { CallSyntax } from '../verbs.js';
import type { ExpressionScope } from './scope.js';

/** `` jinja`…` ``: the value of a template, in which each `${value}` is a name. */
export function lowerJinja(
  { args: [template], callee, place }: CallSyntax,
  { report }: Pick<ExpressionScope, 'report'>,
  position: TemplatePosition,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): Expr | undefined {
  const refuse = (what: string, hint?: string): undefined => {
    report(diagnostic('SW2001', place, { what }, { hint }));
    return undefined;
  };
  if (template?.kind !== 'template')
    return refuse('`jinja` without a template', `write the template behind it: ${nameIn(callee)}\`{{ … }}\``);
  const names = new Map<string, Expr>();
  let text = '';
  let isWhole = true;
  for (const part of template.parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = lower(part);
    const name = `__value${names.size + 1}__`;
    names.set(name, value === undefined ? { kind: 'literal' } : asVariable(value));
    text += isInBlock(text) ? name : `{{ ${name} }}`;
    isWhole &&= value !== undefined;
  }
  if (!isWhole) return undefined;
  try {
    return lowerTemplate(text, position, { inputs: [], state: [], names, at: () => place.span });
  } catch (fault) {
    if (!(fault instanceof TemplateFault)) throw fault;
    const hint = `insert values of the workflow: \`{{ \${this.name} }}\``;
    for (const each of [fault, ...fault.further])
      refuse(`a template with a fault (${each.message})`, each.hint ?? hint);
    return undefined;
  }
}

function nameIn(callee: ExpressionSyntax): string {
  return callee.kind === 'identifier' ? callee.name : 'jinja';
}

/** Whether what follows a text is inside `{{ … }}` or `{% … %}`. */
function isInBlock(text: string): boolean {
  const opening = Math.max(text.lastIndexOf('{{'), text.lastIndexOf('{%'));
  return opening > Math.max(text.lastIndexOf('}}'), text.lastIndexOf('%}'));
}

/** Templates read inputs and state without a fault where a part of them is missing. */
function asVariable(value: Expr): Expr {
  if (value.kind !== 'ref' || (value.root !== 'inputs' && value.root !== 'state')) return value;
  return { ...value, ...defined({ find: value.find ?? ('optional' as const) }) };
}
