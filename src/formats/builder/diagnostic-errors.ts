import type { CheckEnvironment } from '../../check/check-graph.js';
import type { Diagnostic, DiagnosticCode, DiagnosticParams } from '../../graph/diagnostics/diagnostic.js';
import type { Graph } from '../../graph/model.js';
import { lineOf, type Origin } from './context.js';
import {
  CircularDependencyError,
  DuplicateNameError,
  didYouMean,
  InvalidMappingError,
  InvalidNameError,
  InvalidOptionError,
  InvalidUriError,
  listed,
  MissingFieldError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  OutputFieldNotFoundError,
  optionReason,
  sentences,
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
  const bySeverity = { error: [...errors], warning: [] as LocatedError[] };
  const reader = new DiagnosticReader(graph, environment, diagnostics);
  const inOrder = [...diagnostics].sort((a, b) => lineOf(a.place) - lineOf(b.place));
  for (const diagnostic of inOrder) {
    const error = reader.read(diagnostic, origins.at(diagnostic.place));
    if (error !== undefined) bySeverity[diagnostic.severity].push({ line: lineOf(diagnostic.place), error });
  }
  const sorted = (list: readonly LocatedError[]): WorkflowError[] =>
    [...list].sort((a, b) => a.line - b.line).map(({ error }) => error);
  return { errors: sorted(bySeverity.error), warnings: sorted(bySeverity.warning) };
}

/** Translates the diagnostics of a graph that was not made by the builder into errors. */
export function graphErrors(
  graph: Graph,
  environment: CheckEnvironment,
  diagnostics: readonly Diagnostic[],
): readonly WorkflowError[] {
  const reader = new DiagnosticReader(graph, environment, diagnostics);
  return diagnostics.flatMap((diagnostic) => {
    const step = diagnostic.params?.step;
    const origin: Origin =
      typeof step === 'string' ? { kind: 'step', step, available: () => [] } : { kind: 'workflow' };
    const error = reader.read(diagnostic, origin);
    return error === undefined ? [] : [within(graph.name, error)];
  });
}

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
  read(diagnostic: Diagnostic, origin: Origin): WorkflowError | undefined {
    if (this.#isEcho(diagnostic, origin)) return undefined;
    const { name: workflow } = this.#graph;
    switch (diagnostic.code) {
      case 'SW1002':
        return new InvalidNameError(paramsOf<'SW1002'>(diagnostic));
      case 'SW1008': {
        const { field: name } = paramsOf<'SW1008'>(diagnostic);
        return new DuplicateNameError({ workflow, name, kinds: 'two arguments' }, diagnostic.code);
      }
      case 'SW4009': {
        const { id: name } = paramsOf<'SW4009'>(diagnostic);
        return new DuplicateNameError({ workflow, name, kinds: 'two steps' }, diagnostic.code);
      }
      case 'SW4008':
        return new MissingFieldError({ workflow, field: fieldOf(paramsOf<'SW4008'>(diagnostic).what) });
      case 'SW3002': {
        const { name } = paramsOf<'SW3002'>(diagnostic);
        const declared = this.#graph.inputs.map((input) => input.name);
        const reason = sentences(
          `References undefined prompt argument '${name}'`,
          listed('arguments', declared),
          didYouMean(name, declared),
        );
        return this.#mapping(diagnostic, origin, reason);
      }
      case 'SW3004':
        return this.#forward(diagnostic, origin);
      case 'SW4001': {
        const { tool } = paramsOf<'SW4001'>(diagnostic);
        return new MissingToolError({ workflow, tool }, this.#environment.tools.keys());
      }
      case 'SW4002':
        return this.#missingResource(paramsOf<'SW4002'>(diagnostic).resource);
      case 'SW4003':
      case 'SW4004':
      case 'SW4012':
      case 'SW4048':
        return this.#mapping(diagnostic, origin, sentence(diagnostic));
      case 'SW4005': {
        const { step, path: field, suggestion } = paramsOf<'SW4005'>(diagnostic);
        return new OutputFieldNotFoundError({ step, field }, suggestion);
      }
      case 'SW4006':
        return new CircularDependencyError({ workflow, cycle: paramsOf<'SW4006'>(diagnostic).cycle });
      case 'SW4007':
        return new InvalidUriError(paramsOf<'SW4007'>(diagnostic));
      case 'SW4015': {
        const { what, option, value, range } = paramsOf<'SW4015'>(diagnostic);
        return new InvalidOptionError({ owner: plain(what), reason: optionReason(option, value, range) });
      }
      case 'SW3021': {
        const { name, actual, field } = paramsOf<'SW3021'>(diagnostic);
        const part = name !== undefined && actual === 'an object' && field !== undefined;
        const hint = part
          ? `name a field of it: \`{${name}.${field}}\``
          : 'make a text of it in a `transform` of an earlier step';
        return this.#other({ ...diagnostic, hint }, origin);
      }
      default:
        return this.#other(diagnostic, origin);
    }
  }

  /** Whether a diagnostic repeats another: an expression that is used in several places is checked in each of them. */
  #isEcho(diagnostic: Diagnostic, origin: Origin): boolean {
    const { code, message } = diagnostic;
    if (origin.kind === 'transform') {
      const here = `${lineOf(diagnostic.place)} ${message}`;
      const isRepeated = this.#ofTransforms.has(here);
      this.#ofTransforms.add(here).add(message);
      return isRepeated;
    }
    switch (code) {
      case 'SW4005':
        return this.#ofTransforms.has(message);
      case 'SW3002':
        return origin.kind !== 'input' || origin.source.kind !== 'argument';
      case 'SW4011':
        // The schema of the graph reports the same number, with a worse message than SW4015.
        return (
          /\/retry\/\w+`: /.test(paramsOf<'SW4011'>(diagnostic).problem) &&
          this.#badRetries.has(lineOf(diagnostic.place))
        );
      case 'SW4006':
        // Two steps with one id seem to wait for each other.
        return paramsOf<'SW4006'>(diagnostic)
          .cycle.split(' → ')
          .some((id) => this.#duplicates.has(id));
      default:
        return false;
    }
  }

  #mapping(diagnostic: Diagnostic, origin: Origin, reason: string): WorkflowError {
    if (!('step' in origin)) return this.#other(diagnostic, origin);
    return new InvalidMappingError({ step: origin.step, reason }, diagnostic.code);
  }

  #forward(diagnostic: Diagnostic, origin: Origin): WorkflowError {
    if (!('step' in origin)) return this.#other(diagnostic, origin);
    const { name: binding } = paramsOf<'SW3004'>(diagnostic);
    const { name: workflow } = this.#graph;
    // A step with a function is two nodes, of which the first would wait for the second.
    if (binding === origin.step) {
      return new CircularDependencyError({ workflow, cycle: `${binding} → ${binding}` });
    }
    const because = `It is bound by a later step: move '${binding}' above '${origin.step}'`;
    const { step } = origin;
    return new UnknownBindingError(
      { step, available: origin.available(), binding },
      diagnostic.code,
      because,
    );
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
    const resource = uris.find((each) => each.resource === name)?.uri ?? name;
    const registered = [...this.#environment.resources];
    const elsewhere = registered.find(([, { uri }]) => uri === resource)?.[0];
    const because =
      elsewhere === undefined ? undefined : `It is registered as '${elsewhere}', not as '${name}'`;
    const registeredUris = registered.map(([, { uri }]) => uri);
    return new MissingResourceError({ workflow, resource }, registeredUris, 'SW4002', because);
  }

  #other(diagnostic: Diagnostic, origin: Origin): WorkflowError {
    const [kind, name] = 'step' in origin ? ['Step', origin.step] : ['Workflow', this.#graph.name];
    const { hint, ...rest } = diagnostic;
    // The hints of warnings are about classes with decorators.
    const text = sentence(diagnostic.severity === 'error' ? diagnostic : rest);
    const message = diagnostic.message.includes(`\`${name}\``) ? text : `${kind} '${name}': ${text}`;
    return new OtherWorkflowError(message, diagnostic.code, { cause: diagnostic });
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
