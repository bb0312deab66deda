import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { BaseSyntax, ClassSyntax, FieldSyntax, MemberSyntax } from '../syntax.js';

/** Reports every member of a workflow class that is neither a step nor an argument nor a result: nothing would read it. */
export function refuseOthers(
  { name: className }: ClassSyntax,
  fields: readonly FieldSyntax[],
  members: readonly MemberSyntax[],
  report: (diagnostic: Diagnostic) => void,
): void {
  for (const field of fields) {
    const { name, place, isStatic } = field;
    if (name === 'output' && !isStatic) {
      report(diagnostic('SW1029', place, { className, member: name }));
      continue;
    }
    const what = isStatic ? 'a static field' : 'a plain field';
    report(diagnostic('SW1028', place, { className, what, member: name }, { hint: fieldHint(field) }));
  }
  for (const { name, what, place } of members) {
    const member = what === 'a constructor' ? '' : name;
    report(diagnostic('SW1028', place, { className, what, member }, { hint: MEMBER_HINTS[what] }));
  }
}

function fieldHint({ name, isStatic, initializer }: FieldSyntax): string {
  if (isStatic) return `write \`const ${name} = …\` at the top level of the module`;
  if (initializer === undefined) return `declare it as an argument: \`@Arg({ … }) ${name}!: Arg<…>\``;
  return initializer.kind === 'arrow'
    ? `write \`export function ${name}(…)\` at the top level of a module, and call it in a step`
    : `make it a step: \`@Step() ${name} = …\``;
}

const MEMBER_HINTS: Readonly<Record<MemberSyntax['what'], string>> = {
  'a method': 'write it as an exported function at the top level of a module, and call it in a step',
  'an accessor': 'make it a step: `@Step() name = …`',
  'a constructor': 'remove it: a workflow class is read by the compiler, and never instantiated',
  'a static block': 'move it to the top level of the module',
  'an index signature': 'remove it',
  'a parameter': 'remove it',
};

/** A workflow or a prompt that extends a class: its arguments and steps are its own. */
export function inherits(
  { name: className }: ClassSyntax,
  { name: base, place, fields }: BaseSyntax,
  kind: 'workflow' | 'prompt',
): Diagnostic {
  const names = fields.map(({ name }) => name);
  const related = fields.map((field) => ({
    message: `\`${field.name}\` is declared here`,
    place: field.place,
  }));
  return diagnostic('SW1030', place, { className, kind, base, fields: names }, { related });
}
