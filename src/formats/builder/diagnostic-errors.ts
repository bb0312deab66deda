import type { CheckEnvironment } from '../../check/check-graph.js';
import type { Diagnostic, DiagnosticCode, DiagnosticParams } from '../../graph/diagnostics/diagnostic.js';
import type { Graph } from '../../graph/model.js';
import { lineOf, type Origin } from './context.js';
import {
  CircularDependencyError,
  DuplicateNameError,
  InvalidMappingError,
  InvalidNameError,
  InvalidOptionError,
  InvalidUriError,
  MissingFieldError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  OutputFieldNotFoundError,
  reasons,
  UnknownBindingError,
  type WorkflowError,
  within,
} from './errors.js';
import type { LocatedError, Lowered } from './lower.js';

/** Errors and warnings of a workflow, in the order of the calls of the builder. */
export interface Findings {
  readonly errors: readonly WorkflowError[];
  readonly warnings: readonly WorkflowError[];
}

/** Translates diagnostics into errors, and merges them with the errors found while lowering. */
export function findingsOf(
  { graph, origins, errors }: Lowered,
  environment: CheckEnvironment,
  diagnostics: readonly Diagnostic[],
): Findings {
  const found = { error: [...errors], warning: [] as LocatedError[] };
  const reader = new DiagnosticReader(graph, environment, diagnostics);
  const inOrder = [...diagnostics].sort((left, right) => lineOf(left.place) - lineOf(right.place));
  for (const diagnostic of inOrder) {
    const error = reader.read(diagnostic, origins.at(diagnostic.place));
    if (error !== undefined) found[diagnostic.severity].push({ line: lineOf(diagnostic.place), error });
  }
  const sorted = (list: readonly LocatedError[]): WorkflowError[] =>
    [...list].sort((left, right) => left.line - right.line).map(({ error }) => error);
  return { errors: sorted(found.error), warnings: sorted(found.warning) };
}

/** Translates the diagnostics of a graph that was not made by the builder into errors. */
export function graphErrors(
  graph: Graph,
  environment: CheckEnvironment,
  diagnostics: readonly Diagnostic[],
): readonly WorkflowError[] {
  const reader = new DiagnosticReader(graph, environment, diagnostics);
  return diagnostics.flatMap((found) => {
    const step = found.params?.step;
    const origin: Origin =
      typeof step === 'string' ? { kind: 'step', step, available: () => [] } : { kind: 'workflow' };
    const error = reader.read(found, origin);
    return error === undefined ? [] : [within(graph.name, error)];
  });
}

/** The parameters of the message of a diagnostic with this code. */
function paramsOf<C extends DiagnosticCode>({ params }: Diagnostic): DiagnosticParams<C> {
  return params as unknown as DiagnosticParams<C>;
}

/** Translates diagnostics. They come in the order of their places: those of a transform before those of its readers. */
class DiagnosticReader {
  readonly #graph: Graph;
  readonly #environment: CheckEnvironment;
  /** The messages about transforms, which are not reported again for steps that read their values. */
  readonly #ofTransforms = new Set<string>();
  /** Ids that several steps have. */
  readonly #duplicates: ReadonlySet<string>;
  /** Lines of retries with numbers out of range. */
  readonly #badRetries: ReadonlySet<number>;

  constructor(graph: Graph, environment: CheckEnvironment, diagnostics: readonly Diagnostic[]) {
    this.#graph = graph;
    this.#environment = environment;
    const isBadRetry = ({ code }: Diagnostic): boolean => code === 'SW4015';
    this.#badRetries = new Set(diagnostics.filter(isBadRetry).map(({ place }) => lineOf(place)));
    const ids = new Set<string>();
    this.#duplicates = new Set(graph.nodes.flatMap(({ id }) => (ids.size < ids.add(id).size ? [] : [id])));
  }

  /** Translates a diagnostic; `undefined` for one that repeats another. */
  read(found: Diagnostic, origin: Origin): WorkflowError | undefined {
    if (this.#isEcho(found, origin)) return undefined;
    const { name: workflow } = this.#graph;
    switch (found.code) {
      case 'SW1002':
        return new InvalidNameError(paramsOf<'SW1002'>(found));
      case 'SW1008': {
        const { field: name } = paramsOf<'SW1008'>(found);
        return new DuplicateNameError({ workflow, name, kinds: 'two arguments' }, found.code);
      }
      case 'SW4009': {
        const { id: name } = paramsOf<'SW4009'>(found);
        return new DuplicateNameError({ workflow, name, kinds: 'two steps' }, found.code);
      }
      case 'SW4008':
        return new MissingFieldError({ workflow, field: fieldOf(paramsOf<'SW4008'>(found).what) });
      case 'SW3002': {
        const { name } = paramsOf<'SW3002'>(found);
        const reason = reasons.undeclaredArgument(
          name,
          this.#graph.inputs.map((input) => input.name),
        );
        return this.#mapping(found, origin, reason);
      }
      case 'SW3004':
        return this.#forward(found, origin);
      case 'SW4001': {
        const { tool } = paramsOf<'SW4001'>(found);
        return new MissingToolError({ workflow, tool }, this.#environment.tools.keys());
      }
      case 'SW4002':
        return this.#missingResource(paramsOf<'SW4002'>(found).resource);
      case 'SW4003':
      case 'SW4004':
      case 'SW4012':
        return this.#mapping(found, origin, sentence(found));
      case 'SW4005': {
        const { step, path: field, suggestion } = paramsOf<'SW4005'>(found);
        return new OutputFieldNotFoundError({ step, field }, suggestion);
      }
      case 'SW4006':
        return new CircularDependencyError({ workflow, cycle: paramsOf<'SW4006'>(found).cycle });
      case 'SW4007':
        return new InvalidUriError(paramsOf<'SW4007'>(found));
      case 'SW4015': {
        const { what, option, value, range } = paramsOf<'SW4015'>(found);
        return new InvalidOptionError({ owner: plain(what), reason: reasons.option(option, value, range) });
      }
      default:
        return this.#other(found, origin);
    }
  }

  /** Whether a diagnostic repeats another: an expression that is used in several places is checked in each of them. */
  #isEcho(found: Diagnostic, origin: Origin): boolean {
    const { code, message } = found;
    if (origin.kind === 'transform') {
      const here = `${lineOf(found.place)} ${message}`;
      const isKnown = this.#ofTransforms.has(here);
      this.#ofTransforms.add(here).add(message);
      return isKnown;
    }
    switch (code) {
      case 'SW4005':
        return this.#ofTransforms.has(message);
      case 'SW3002':
        return origin.kind !== 'input' || origin.source.kind !== 'argument';
      case 'SW4011':
        // The schema of the graph reports the same number, with a worse message than SW4015.
        return (
          /\/retry\/\w+`: /.test(paramsOf<'SW4011'>(found).problem) &&
          this.#badRetries.has(lineOf(found.place))
        );
      case 'SW4006':
        // Two steps with one id seem to wait for each other.
        return paramsOf<'SW4006'>(found)
          .cycle.split(' → ')
          .some((id) => this.#duplicates.has(id));
      default:
        return false;
    }
  }

  #mapping(found: Diagnostic, origin: Origin, reason: string): WorkflowError {
    if (!('step' in origin)) return this.#other(found, origin);
    return new InvalidMappingError({ step: origin.step, reason }, found.code);
  }

  #forward(found: Diagnostic, origin: Origin): WorkflowError {
    if (!('step' in origin)) return this.#other(found, origin);
    const { name: binding } = paramsOf<'SW3004'>(found);
    const { name: workflow } = this.#graph;
    // A step with a function is two nodes, of which the first would wait for the second.
    if (binding === origin.step) {
      return new CircularDependencyError({ workflow, cycle: `${binding} → ${binding}` });
    }
    const because = reasons.boundLater(binding, origin.step);
    const { step } = origin;
    return new UnknownBindingError({ step, available: origin.available(), binding }, found.code, because);
  }

  #missingResource(name: string): WorkflowError {
    const { name: workflow, instructions, nodes } = this.#graph;
    const uris = [
      ...instructions,
      ...nodes.flatMap((node) =>
        node.kind === 'resource' && node.uri.kind === 'literal'
          ? { resource: node.resource, uri: String(node.uri.value) }
          : [],
      ),
    ];
    const resource = uris.find((known) => known.resource === name)?.uri ?? name;
    const registered = [...this.#environment.resources];
    const elsewhere = registered.find(([, { uri }]) => uri === resource)?.[0];
    const because = elsewhere === undefined ? undefined : reasons.registeredAs(elsewhere, name);
    const known = registered.map(([, { uri }]) => uri);
    return new MissingResourceError({ workflow, resource }, known, 'SW4002', because);
  }

  #other(found: Diagnostic, origin: Origin): WorkflowError {
    const [kind, name] = 'step' in origin ? ['Step', origin.step] : ['Workflow', this.#graph.name];
    const { hint, ...rest } = found;
    // The hints of warnings are about classes with decorators.
    const text = sentence(found.severity === 'error' ? found : rest);
    const message = found.message.includes(`\`${name}\``) ? text : `${kind} '${name}': ${text}`;
    return new OtherWorkflowError(message, found.code, { cause: found });
  }
}

/** Shortens `the description of workflow ``x``` to `description`. */
function fieldOf(what: string): string {
  return plain(what.replace(/^the /, '').replace(/ of (?:a )?workflow(?: `.*`)?$/s, ''));
}

/** Joins message and hint in the style of the builder's messages. */
function sentence({ message, hint }: Diagnostic): string {
  if (hint === undefined) return plain(message);
  return plain(`${message}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`);
}

function plain(text: string): string {
  return text.replaceAll('`', "'");
}
