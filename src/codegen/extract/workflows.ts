import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { WorkflowDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf } from '../verbs.js';
import { readClasses } from './class-lists.js';
import { type DecoratedClass, UNNAMED } from './collected.js';
import { readFields } from './fields.js';
import { inherits, refuseOthers } from './members.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Workflow. What has a fault is reported, and left out or stood in for. */
export function readWorkflow(decorated: DecoratedClass): WorkflowDeclaration {
  const { syntax, handle, decorator, report } = decorated;
  const options = readOptions(decorator, 'Workflow', syntax.name, report);
  const { name } = textOptions(options, ['name']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name !== undefined && checkName('workflow', name, namePlace, report);
  if (syntax.base !== undefined) report(inherits(syntax, syntax.base, 'workflow'));
  const instructions = readClasses('Workflow', 'instructions', options.syntax.instructions, report);
  const needsState = readClasses('Workflow', 'needsState', options.syntax.needsState, report);
  const { plainFields, plainMembers, ...fields } = readFields(syntax, report);
  refuseOthers(syntax, plainFields, plainMembers, report);
  const mayHaveSteps = fields.faultyFields.length > 0 || plainFields.length > 0 || syntax.base !== undefined;
  if (fields.steps.length === 0 && !mayHaveSteps) {
    report(diagnostic('SW1009', syntax.place, { workflow: name ?? syntax.name }));
  }
  return {
    ...handle,
    name: isNamed ? name : UNNAMED,
    namePlace,
    options: {
      ...options.values,
      ...(instructions === undefined ? {} : { instructions: instructions.map(classHandle) }),
      ...(needsState === undefined ? {} : { needsState: needsState.map(classHandle) }),
    },
    instructions: instructions ?? [],
    needsState: needsState ?? [],
    ...fields,
    // Each has been reported once; naming it is no further fault.
    faultyFields: [
      ...fields.faultyFields,
      ...[...plainFields, ...plainMembers, ...(syntax.base?.fields ?? [])].map((member) => member.name),
    ],
  };
}

function classHandle(handle: ExpressionSyntax): { readonly $class: string } {
  return { $class: symbolOf(handle)?.name ?? '' };
}
