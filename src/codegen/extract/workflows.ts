import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { WorkflowDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf } from '../verbs.js';
import type { DecoratedClass } from './collected.js';
import { readFields } from './fields.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

type Report = (diagnostic: Diagnostic) => void;

/** Reads a class under @Workflow; it is not sound when its name or description is missing or has a fault. */
export function readWorkflow(decorated: DecoratedClass): {
  readonly workflow: WorkflowDeclaration;
  readonly isSound: boolean;
} {
  const { syntax, handle, decorator, report } = decorated;
  const options = readOptions(decorator, 'Workflow', syntax.name, report);
  const { name, description } = textOptions(options, ['name', 'description']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name === undefined || checkName('workflow', name, namePlace, report);
  if (syntax.base !== undefined) {
    const hint = 'a workflow class stands alone: its arguments and steps are its own';
    const params = { decorator: 'Workflow', what: 'a class that extends another' };
    report(diagnostic('SW1016', syntax.base, params, { hint }));
  }
  const instructions = readInstructions(options.syntax.instructions, report);
  const fields = readFields(syntax, report);
  if (fields.steps.length === 0 && fields.faultyFields.length === 0) {
    report(diagnostic('SW1009', syntax.place, { workflow: name ?? syntax.name }));
  }
  const handles = instructions?.map((item) => ({ $class: className(item) }));
  const workflow: WorkflowDeclaration = {
    ...handle,
    name: name ?? '',
    namePlace,
    options: { ...options.values, ...(handles === undefined ? {} : { instructions: handles }) },
    instructions: instructions ?? [],
    ...fields,
  };
  return { workflow, isSound: name !== undefined && description !== undefined && isNamed };
}

/** The classes of the option, or nothing where it was not given. */
function readInstructions(
  syntax: ExpressionSyntax | undefined,
  report: Report,
): readonly ExpressionSyntax[] | undefined {
  if (syntax === undefined) return undefined;
  if (syntax.kind !== 'array' || syntax.items.some((item) => item.spread)) {
    report(diagnostic('SW1003', syntax.place, { decorator: 'Workflow', option: 'instructions' }));
    return undefined;
  }
  return syntax.items.map((item) => item.value);
}

function className(handle: ExpressionSyntax): string {
  return symbolOf(handle)?.name ?? '';
}
