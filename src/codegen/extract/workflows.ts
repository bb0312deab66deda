import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { WorkflowDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf } from '../verbs.js';
import { readClasses } from './class-lists.js';
import type { DecoratedClass } from './collected.js';
import { readFields } from './fields.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

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
  const instructions = readClasses('Workflow', 'instructions', options.syntax.instructions, report);
  const needsState = readClasses('Workflow', 'needsState', options.syntax.needsState, report);
  const fields = readFields(syntax, report);
  if (fields.steps.length === 0 && fields.faultyFields.length === 0) {
    report(diagnostic('SW1009', syntax.place, { workflow: name ?? syntax.name }));
  }
  const workflow: WorkflowDeclaration = {
    ...handle,
    name: name ?? '',
    namePlace,
    options: {
      ...options.values,
      ...(instructions === undefined ? {} : { instructions: instructions.map(classHandle) }),
      ...(needsState === undefined ? {} : { needsState: needsState.map(classHandle) }),
    },
    instructions: instructions ?? [],
    needsState: needsState ?? [],
    ...fields,
  };
  return { workflow, isSound: name !== undefined && description !== undefined && isNamed };
}

function classHandle(handle: ExpressionSyntax): { readonly $class: string } {
  return { $class: symbolOf(handle)?.name ?? '' };
}
