import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../graph/names.js';
import type { StepDeclaration, WorkflowDeclaration } from '../declarations.js';
import { orderRules } from '../extract/options.js';
import type { ExpressionSyntax } from '../syntax.js';
import {
  type CallSyntax,
  calleeName,
  isFail,
  isRequirement,
  makesSteps,
  onlySide,
  optionOf,
  stepVerbOf,
  unwrap,
} from '../verbs.js';
import { print } from './describe.js';
import type { Bindings } from './scope.js';

/** The option `after` of a verb, as written. */
interface WrittenAfter {
  readonly verb: string;
  readonly syntax: ExpressionSyntax;
}

/** Reads the option `after`: the names that @Step lists, and the handles that verbs list. */
export class AfterOptions {
  readonly #workflow: WorkflowDeclaration;
  readonly #bindings: Bindings;
  /** Node ids by step name. */
  readonly #idsByStep: ReadonlyMap<string, string>;
  readonly #ownIds: ReadonlySet<string>;
  readonly #args: ReadonlySet<string>;
  readonly #report: Report;

  constructor(
    workflow: WorkflowDeclaration,
    idsByStep: ReadonlyMap<string, string>,
    bindings: Bindings,
    report: Report,
  ) {
    this.#workflow = workflow;
    this.#bindings = bindings;
    this.#idsByStep = idsByStep;
    this.#ownIds = new Set(idsByStep.values());
    this.#args = new Set(workflow.args.map(({ name }) => name));
    this.#report = report;
  }

  /** The ids that a step waits for as a whole; nothing where it follows the step before it. */
  ofStep(step: StepDeclaration): readonly string[] | undefined {
    const written = startsOf(step.initializer).flatMap((call) => writtenAfter(call) ?? []);
    const [own, ...others] = written;
    if (own === undefined) return this.#named(step);
    for (const { verb, syntax } of others) this.#refuseSecond(own, `\`${verb}\``, syntax);
    const { after } = step.optionSyntax;
    if (after !== undefined) this.#refuseSecond(own, '@Step', after, this.#instead(step, own, after));
    return this.#handles(step, own);
  }

  /**
   * The ids that a later link of a chain waits for, besides the link before it. Elsewhere inside a step the option is
   * reported: an arm starts with the step that it is in.
   *
   * @param inside the step or node that contains the call.
   */
  ofPart(step: StepDeclaration, call: CallSyntax, inside: string | undefined): readonly string[] {
    const written = writtenAfter(call);
    if (written === undefined || startsOf(step.initializer).includes(call)) return [];
    if (inside === undefined) return this.#handles(step, written) ?? [];
    const elements = this.#elements(written) ?? [];
    if (elements.length === 0) this.#refuseEmpty(written, inside);
    const steps = elements.filter((each) => this.#handle(step, each) !== undefined);
    const hint = `let the whole step wait: ${this.#wholeStep(step, steps)}`;
    const why = `the \`${written.verb}\` is inside \`${inside}\`, and waits in its own list of steps alone`;
    for (const each of steps) this.#refuse(each, why, hint);
    return [];
  }

  /** What the option of @Step names. */
  #named(step: StepDeclaration): readonly string[] | undefined {
    const syntax = step.optionSyntax.after;
    const list = syntax && unwrap(syntax);
    // A value of another shape has been reported with the options.
    if (list?.kind !== 'array' || step.options.after === undefined) return undefined;
    return list.items.flatMap(({ value }) => {
      const target = textOf(value) ?? '';
      const id = this.#idOf(target);
      if (id !== undefined) return id;
      if (this.#workflow.faultyFields.includes(target)) return [];
      const candidates = this.#namesBeside(step);
      const suggestion = this.#bindings.intendedName(target, candidates);
      this.#report(diagnostic('SW3005', value.place, { step: step.name, target, suggestion, candidates }));
      return [];
    });
  }

  #idOf(target: string): string | undefined {
    return this.#idsByStep.get(target) ?? (this.#ownIds.has(target) ? target : undefined);
  }

  #namesBeside({ name: own }: StepDeclaration): readonly string[] {
    return [...new Set([...this.#idsByStep].filter(([name]) => name !== own).flat())];
  }

  /** What the option of a verb names. */
  #handles(step: StepDeclaration, written: WrittenAfter): readonly string[] | undefined {
    const elements = this.#elements(written);
    return elements && [...new Set(elements.flatMap((each) => this.#handle(step, each) ?? []))];
  }

  /** The elements of the list; nothing for anything else, which is reported. */
  #elements({ verb, syntax }: WrittenAfter): readonly ExpressionSyntax[] | undefined {
    if (syntax.kind === 'array') {
      for (const { value, spread } of syntax.items)
        if (spread) this.#refuse(value, 'it is a spread', 'write the steps one by one: `[this.a, this.b]`');
      return syntax.items.filter(({ spread }) => !spread).map(({ value }) => value);
    }
    const { expected } = orderRules.after;
    this.#report(diagnostic('SW1012', syntax.place, { decorator: verb, option: 'after', expected }));
    return undefined;
  }

  /** The id of the step that `this.step` names; nothing for anything else, which is reported. */
  #handle(step: StepDeclaration, syntax: ExpressionSyntax): string | undefined {
    const inner = unwrap(syntax);
    if (inner.kind !== 'property' || unwrap(inner.object).kind !== 'this') return this.#noHandle(step, inner);
    const { name, namePlace } = inner;
    const refuse = (why: string, hint?: string): undefined => this.#refuse(inner, why, hint);
    if (this.#args.has(name)) {
      const hint = 'leave it out: arguments have their values before the first step';
      return refuse('it is an argument', hint);
    }
    if (name === step.name) return refuse('it is the step itself', 'leave it out');
    if (this.#bindings.isDeclaredBelow(name))
      return refuse('it is declared below', `move \`${step.name}\` below \`${name}\``);
    const isFaulty = this.#bindings.resolve(name, namePlace)?.kind === 'faulty';
    return isFaulty && this.#workflow.faultyFields.includes(name) ? undefined : this.#idsByStep.get(name);
  }

  /** Reports an element that is not `this.step`, and names the step that was most likely meant. */
  #noHandle(step: StepDeclaration, syntax: ExpressionSyntax): undefined {
    const root = rootOf(syntax);
    if (root !== undefined && this.#idsByStep.has(root))
      return this.#refuse(syntax, 'it is a part of its value', `name the step: \`this.${root}\``);
    if (root !== undefined) return this.#refuse(syntax, 'it is not a step');
    const text = textOf(syntax);
    const intended = text === undefined ? undefined : this.#fieldNear(step, text);
    return this.#refuse(
      syntax,
      text === undefined ? 'it is not a step, such as `this.step`' : 'a verb names steps by their fields',
      intended && `write \`this.${intended}\``,
    );
  }

  #fieldNear(step: StepDeclaration, text: string): string | undefined {
    const near = this.#idOf(text) === undefined ? nearestName(text, this.#namesBeside(step)) : text;
    return near === undefined ? undefined : this.#fieldOf(near);
  }

  /** The field of a step that is named by its field or by its id. */
  #fieldOf(target: string): string | undefined {
    if (this.#idsByStep.has(target)) return target;
    return [...this.#idsByStep].find(([, id]) => id === target)?.[0];
  }

  #refuse(syntax: ExpressionSyntax, why: string, hint?: string): undefined {
    this.#report(diagnostic('SW3018', syntax.place, { target: print(unwrap(syntax)), why }, { hint }));
    return undefined;
  }

  #refuseEmpty({ verb, syntax }: WrittenAfter, inside: string): void {
    if (syntax.kind !== 'array' || syntax.items.length > 0) return;
    const params = { decorator: verb, option: 'after', takes: "a step of the workflow's own list" };
    this.#report(diagnostic('SW1021', syntax.place, { ...params, name: `${verb} inside ${inside}` }));
  }

  #refuseSecond(own: WrittenAfter, second: string, other: ExpressionSyntax, hint?: string): void {
    const related = [{ message: 'the other one is here', place: other.place }];
    const params = { what: '`after`', first: `\`${own.verb}\``, second };
    this.#report(diagnostic('SW1020', own.syntax.place, params, { related, hint }));
  }

  /** What to write where both @Step and a verb say what a step waits for. */
  #instead(step: StepDeclaration, { syntax }: WrittenAfter, named: ExpressionSyntax): string | undefined {
    const list = unwrap(named);
    if (list.kind !== 'array' || syntax.kind !== 'array' || step.options.after === undefined)
      return undefined;
    const fields = list.items.map(({ value }) => this.#fieldOf(textOf(value) ?? ''));
    const written = syntax.items.map(({ value }) => print(unwrap(value)));
    const all = new Set([...written, ...fields.flatMap((field) => (field ? [`this.${field}`] : []))]);
    return `leave \`after\` out of @Step, and name all steps here: \`after: [${[...all].join(', ')}]\``;
  }

  /** How a step as a whole waits for what an option inside it names. */
  #wholeStep({ initializer }: StepDeclaration, elements: readonly ExpressionSyntax[]): string {
    const start = startsOf(initializer).find((call) => stepVerbOf(call) !== 'chain');
    const handles = elements.map((each) => print(unwrap(each)));
    if (start !== undefined) return `\`${calleeName(start)}(…, { after: [${handles.join(', ')}] })\``;
    const ids = elements.map((each) => `'${this.#idsByStep.get(rootOf(unwrap(each)) ?? '') ?? '…'}'`);
    return `\`@Step({ after: [${ids.join(', ')}] })\``;
  }
}

function writtenAfter(call: CallSyntax): WrittenAfter | undefined {
  const syntax = optionOf(call, 'after');
  // `after: undefined` is an option left out.
  if (syntax === undefined || syntax.kind === 'undefined') return undefined;
  return { verb: calleeName(call), syntax };
}

/** The calls whose `after` is that of their step: the step's own verb, and what a chain or an `attempt` begins with. */
function startsOf(syntax: ExpressionSyntax): readonly CallSyntax[] {
  const inner = unwrap(syntax);
  switch (inner.kind) {
    case 'call': {
      const verb = stepVerbOf(inner);
      const [first] = verb === 'chain' || verb === 'attempt' ? inner.args : [];
      return verb === undefined ? [] : [inner, ...(first === undefined ? [] : startsOf(first))];
    }
    case 'conditional': {
      const only = isRequirement(inner) ? [inner.then, inner.else].find(isFail) : onlySide(inner);
      return only === undefined ? [] : startsOf(only);
    }
    case 'binary':
      return inner.operator === '??' && makesSteps(inner.right) ? startsOf(inner.right) : [];
    case 'property':
    case 'element':
      return startsOf(inner.object);
    default:
      return [];
  }
}

/** The name of the field that a value such as `this.a.b[0]` is read from. */
function rootOf(syntax: ExpressionSyntax): string | undefined {
  if (syntax.kind !== 'property' && syntax.kind !== 'element') return undefined;
  const object = unwrap(syntax.object);
  return syntax.kind === 'property' && object.kind === 'this' ? syntax.name : rootOf(object);
}

function textOf(syntax: ExpressionSyntax): string | undefined {
  const literal = unwrap(syntax);
  return literal.kind === 'literal' ? String(literal.value) : undefined;
}
