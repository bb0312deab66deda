import { readKey } from '../../graph/expression/traversal.js';
import type { DictEntry, Expr, RefExpr, TextExpr } from '../../graph/expression/tree.js';
import { guidanceText, type Placeholder } from '../../graph/guidance.js';
import type { JsonSchema } from '../../graph/json.js';
import { NAME_RULES } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { addressExpr, linkExpr, variableNames } from '../../graph/uri.js';
import type { LoweringContext, StepOrigin } from './context.js';
import {
  didYouMean,
  InvalidMappingError,
  InvalidNameError,
  pathReason,
  sentences,
  UnknownBindingError,
  type WorkflowError,
} from './errors.js';
import { isConstantExpr, readPath } from './expressions.js';
import { fieldKeys, shownPath } from './names.js';
import type { AddressedSource, ArgumentSource, DataSource, ModelSource } from './sources.js';
import { type Functions, resolveAddress } from './tools-and-resources.js';

type ComputedSource = Extract<DataSource, { kind: 'computed' }>;

/** The value in place of one whose error has been reported. */
const ABSENT: Expr = { kind: 'literal' };

export function nodeValue(id: string): RefExpr {
  return { kind: 'ref', root: 'steps', path: [id] };
}

/** The error of an argument or a transform of a step. */
export function mappingError({ step }: StepOrigin, reason: string): WorkflowError {
  return new InvalidMappingError({ step, reason }, 'SW4011');
}

/** Makes expressions of sources and guidance. Resources and functions they use become nodes before the step. */
export class ValueLowering {
  readonly #context: LoweringContext;
  readonly #functions: Functions;
  #hasForeignParts = false;

  /** Whether a value has expressions, or texts of classes, that the builder did not make and check. */
  get hasForeignParts(): boolean {
    return this.#hasForeignParts;
  }

  constructor(context: LoweringContext, functions: Functions) {
    this.#context = context;
    this.#functions = functions;
  }

  /** Makes the entries of an object. Values with errors are left out, or absent. */
  entries(
    sources: readonly { readonly name: string; readonly source: ArgumentSource }[],
    origin: StepOrigin,
    schemaOf: (argument: string) => JsonSchema | undefined = () => undefined,
  ): DictEntry[] {
    const { origins, report } = this.#context;
    const entries: DictEntry[] = [];
    for (const { name, source } of sources) {
      const place = origins.place({ kind: 'input', source, ...origin });
      if (name === '__proto__') {
        report(place, new InvalidNameError({ kind: 'argument', name, rule: NAME_RULES.argument.source }));
      } else if (entries.some((entry) => 'key' in entry && entry.key === name)) {
        report(place, mappingError(origin, `Argument '${name}' is given twice`));
      } else {
        const value =
          source.kind === 'model'
            ? this.#ask(source, name, schemaOf(name) ?? {}, origin, place)
            : this.#lower(source, name, origin, place);
        entries.push({ key: name, value });
      }
    }
    return entries;
  }

  /** Makes the expression of a single value. */
  value(source: DataSource, origin: StepOrigin): Expr {
    const place = this.#context.origins.place({ kind: 'input', source, ...origin });
    return this.#lower(source, 'read', origin, place);
  }

  /** Makes the expression of text that refers to arguments and to bindings of earlier steps. */
  text(text: string, origin: StepOrigin): Expr {
    const { origins } = this.#context;
    const place = origins.place({ kind: 'guidance', ...origin });
    return this.#text(text, origin, place, 'display');
  }

  #text(text: string, origin: StepOrigin, place: SourceLocation, style: TextExpr['style']): TextExpr {
    const { report, scope } = this.#context;
    const find = ({ root, text: source }: Placeholder): Expr | undefined => {
      const name = root ?? source;
      if (scope.isBound(name)) return scope.valueOf(name);
      if (scope.args.includes(name)) return { kind: 'ref', root: 'inputs', path: [name] };
      const available = scope.available()();
      const because =
        didYouMean(name, [...scope.args, ...available]) ?? 'Write the braces twice for literal text';
      const { step } = origin;
      report(place, new UnknownBindingError({ step, available, binding: name }, 'SW3006', because));
      return undefined;
    };
    return guidanceText(text, place.span, find, () => place.span, style);
  }

  /** Text without a value in it is a literal, as a decorated workflow writes it. */
  #template(text: string, origin: StepOrigin, place: SourceLocation): Expr {
    const lowered = this.#text(text, origin, place, 'js');
    const { parts } = lowered;
    return parts.every((part) => typeof part === 'string')
      ? { kind: 'literal', value: parts.join(''), at: place.span }
      : lowered;
  }

  /** Makes a node that asks a model for an argument of the step's tool. */
  #ask(
    { message }: ModelSource,
    name: string,
    expects: JsonSchema,
    origin: StepOrigin,
    place: SourceLocation,
  ): Expr {
    const { nodes } = this.#context;
    const asked = this.#lower(message, name, origin, place);
    const id = this.#idFor(name, origin);
    const feeds = { node: origin.step, path: [name] };
    nodes.add({ kind: 'ask', id, mode: 'model', message: asked, expects, feeds, source: place });
    return { ...nodeValue(id), at: place.span };
  }

  /** @param name the argument that the value is for; ids of nodes for it contain this name. */
  #lower(source: DataSource, name: string, origin: StepOrigin, place: SourceLocation): Expr {
    const at = place.span;
    switch (source.kind) {
      case 'argument':
        return { kind: 'ref', root: 'inputs', path: [source.name], at };
      case 'step':
        return this.#fromStep(source, origin, place);
      case 'constant':
        if ('value' in source) {
          if (!isConstantExpr(source.value)) this.#hasForeignParts = true;
          return { ...source.value, at };
        }
        this.#context.report(place, mappingError(origin, `The constant is not JSON: ${source.fault}`));
        return ABSENT;
      case 'text':
        return this.#template(source.text, origin, place);
      case 'resource':
        return this.#read(source, name, origin, place);
      case 'link':
        return this.#link(source, name, origin, place);
      case 'computed':
        return this.#compute(source, name, origin, place);
      default:
        return source satisfies never;
    }
  }

  #fromStep(
    { binding, path = undefined }: Extract<DataSource, { kind: 'step' }>,
    origin: StepOrigin,
    place: SourceLocation,
  ): Expr {
    const { report, scope } = this.#context;
    const keys = path === undefined ? [] : fieldKeys(path);
    if (keys === undefined) {
      report(place, mappingError(origin, pathReason(shownPath(path ?? ''))));
      return ABSENT;
    }
    if (scope.isBound(binding)) {
      const value = scope.valueOf(binding);
      return value === undefined ? ABSENT : readPath(value, keys, place.span);
    }
    // The checker reports a later step. It would accept the id of a step without a binding, which is reported here.
    if (scope.hasBinding(binding)) return readPath(nodeValue(binding), keys, place.span);
    const because = scope.isUnbound(binding)
      ? `The step that calls '${binding}' has no binding: add .bind(…) to it`
      : undefined;
    const available = origin.available();
    report(place, new UnknownBindingError({ step: origin.step, available, binding }, 'SW3001', because));
    return ABSENT;
  }

  /** Makes a node that reads a resource, and the expression of its text. */
  #read(source: AddressedSource, name: string, origin: StepOrigin, place: SourceLocation): Expr {
    const { nodes } = this.#context;
    const addressed = this.address(source, name, origin, place);
    if (addressed === undefined) return ABSENT;
    const at = place.span;
    const id = this.#idFor(name, origin);
    nodes.add({ kind: 'resource', id, resource: addressed.name, uri: addressed.uri, source: place });
    return readKey(nodeValue(id), { kind: 'literal', value: 'text', at }, { at });
  }

  /** Makes the expression of a resource link, as MCP defines it. */
  #link(source: AddressedSource, name: string, origin: StepOrigin, place: SourceLocation): Expr {
    const addressed = this.address(source, name, origin, place);
    if (addressed === undefined) return ABSENT;
    const { title, description, mimeType } = addressed.about;
    if ([title, description, mimeType].some((text) => text !== undefined && typeof text !== 'string'))
      this.#hasForeignParts = true;
    return linkExpr(addressed.uri, { name: addressed.name, title, description, mimeType }, place.span);
  }

  /** Resolves a resource, and makes the expression of its address; `undefined` if an error has been reported. */
  address(
    { resource, variables = {} }: AddressedSource,
    name: string,
    origin: StepOrigin,
    place: SourceLocation,
  ) {
    const { registered, report, workflow } = this.#context;
    const resolved = resolveAddress(resource, workflow, registered);
    if (!resolved.ok) {
      report(place, resolved.error);
      return undefined;
    }
    const at = place.span;
    const { name: registeredName, about } = resolved;
    const wanted = 'template' in resolved ? variableNames(resolved.template) : [];
    const missing = wanted.filter((each) => !Object.hasOwn(variables, each));
    const unknown = Object.keys(variables).filter((each) => !wanted.includes(each));
    const address = `The address of '${registeredName}'`;
    const faults = [
      ...missing.map((each) => `${address} needs '${each}'. Add a source for it: { ${each}: … }`),
      ...unknown.map((each) => sentences(`${address} has no variable '${each}'`, didYouMean(each, wanted))),
    ];
    for (const reason of faults) report(place, mappingError(origin, reason));
    if (faults.length > 0) return undefined;
    if (!('template' in resolved)) {
      return {
        name: registeredName,
        about,
        uri: { kind: 'literal', value: resolved.uri, at } satisfies Expr,
      };
    }
    const valueFor = (variable: string): Expr => {
      const source = variables[variable] as DataSource;
      const inner = this.#context.origins.place({ kind: 'input', source, ...origin });
      return { ...this.#lower(source, `${name}-${variable}`, origin, inner), at: inner.span };
    };
    return { name: registeredName, about, uri: addressExpr(resolved.template, valueFor, at) };
  }

  /** Makes a node that calls a function, and the expression of its result. */
  #compute(source: ComputedSource, name: string, origin: StepOrigin, place: SourceLocation): Expr {
    const { nodes, origins, report } = this.#context;
    const items = source.sources.map((each, index) => {
      const inner = origins.place({ kind: 'input', source: each, ...origin });
      return { value: this.#lower(each, `${name}-${index + 1}`, origin, inner) };
    });
    const referred = this.#functions.refer(source.function);
    if (!referred.ok) {
      report(place, mappingError(origin, referred.reason));
      return ABSENT;
    }
    const id = this.#idFor(name, origin);
    const value: Expr = { kind: 'list', items, at: place.span };
    const { name: called, hash } = referred;
    nodes.add({ kind: 'compute', id, value, function: { name: called, hash }, source: place });
    return { ...nodeValue(id), at: place.span };
  }

  #idFor(name: string, { step }: StepOrigin): string {
    return this.#context.scope.derive(`${step}.${name.replace(/[^\p{ID_Continue}$-]/gu, '-')}`);
  }
}
