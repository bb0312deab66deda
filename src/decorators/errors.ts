/**
 * Thrown if a workflow class is instantiated or a verb is called. Codegen reads workflow classes and makes graphs of
 * them; a server runs the graphs.
 */
export class WorkflowNotRunnableError extends Error {
  override readonly name = 'WorkflowNotRunnableError';

  /** @param attempted the expression that threw, as source text: `new AddTask()`, `call(...)`. */
  constructor(attempted: string) {
    super(
      `${attempted}: workflow classes are read by the compiler, never instantiated: ` +
        'run `stepwright codegen` and serve the registry it writes',
    );
  }
}

const optionExamples = {
  Tool: "@Tool({ name: '…', description: '…' })",
  Resource: "@Resource({ name: '…' })",
  Workflow: "@Workflow({ name: '…', description: '…' })",
  Prompt: "@Prompt({ name: '…', description: '…' })",
  State: "@State({ name: '…' })",
  Arg: "@Arg({ description: '…' })",
  Step: '@Step()',
} as const;

/** The decorators of this package, by name. */
export type DecoratorName = keyof typeof optionExamples;

/** Messages of the `TypeError`s for uses of decorators and prompts that the types cannot or did not prevent. */
export const decorationErrors = {
  options: (decorator: DecoratorName) =>
    `@${decorator} takes one object of options and is always called: ${optionExamples[decorator]}`,
  notAClass: (decorator: DecoratorName) => `@${decorator} decorates a class`,
  twice: (decorator: DecoratorName, first: string, className: string) =>
    `class ${className} is a ${first} already and cannot be decorated with @${decorator} as well`,
  notAField: (decorator: DecoratorName, member: string) =>
    `@${decorator} decorates a field, which \`${member}\` is not`,
  staticField: (decorator: DecoratorName, member: string) =>
    `@${decorator} decorates a field of the instance: leave out \`static\` before \`${member}\``,
  unnamedField: (decorator: DecoratorName, member: string) =>
    `@${decorator} decorates a public field with an identifier for a name, which \`${member}\` is not`,
  fieldTwice: (decorator: DecoratorName, member: string) =>
    `\`${member}\` is decorated twice, the second time with @${decorator}: a field is an argument or a step, once`,
  fieldsOutsideWorkflow: (decorator: DecoratorName, className: string) =>
    `class ${className} has fields with @Arg or @Step, which mean nothing under @${decorator}: they belong under @Workflow, @Arg under @Prompt as well`,
  stepsOutsideWorkflow: (className: string) =>
    `class ${className} has fields with @Step, which mean nothing under @Prompt: they belong under @Workflow`,
  inheritedFields: (decorator: 'Workflow' | 'Prompt', className: string, base: string) => {
    const kind = decorator.toLowerCase();
    return `${kind} ${className} extends ${base}, whose arguments and steps are not inherited: a ${kind} class extends nothing`;
  },
  noMetadata: (decorator: DecoratorName) =>
    `@${decorator} was given no decorator metadata: compile with TypeScript 5.2 or later, and load \`stepwright\` before the class`,
  noUri: (className: string) =>
    `resource ${className} has no address: write \`static readonly uri = 'resource://…'\` in the class`,
  unclearUri: (className: string) =>
    `resource ${className} has no clear address: \`uri\` and \`uriTemplate\` are texts, and a class has one of them`,
  promptPart: (what: string) =>
    `prompt\`…\` takes text, numbers, booleans and classes with a decorator, not ${what}`,
  notAHandle: (className: string) =>
    `class ${className} is not a tool, resource or workflow: it has none of the decorators @Tool, @Resource and @Workflow`,
  promptName: (name: string, rule: string) => `\`${name}\` is not a valid prompt name: names match ${rule}`,
  promptArgumentName: (name: string) =>
    `\`${name}\` is not a valid argument name: use an identifier, with \`.\` and \`-\` inside`,
  promptArgumentTwice: (name: string) => `the prompt has an argument \`${name}\` already`,
} as const;
