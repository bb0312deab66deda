import { bodyOf, endsAtOnce, isOneNode, makesSteps, onlySide, optionOf } from '../outcomes.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, partsOf, stepVerbOf, unwrap } from '../verbs.js';

/** The ids of a graph's nodes while they are made. */
export class NodeIds {
  readonly #taken: Set<string>;
  readonly #settled = new Set<string>();

  /** @param written ids that authors have given, which nothing derived may take. */
  constructor(written: Iterable<string>) {
    this.#taken = new Set(written);
  }

  /** The id, or the first of `id-2`, `id-3`, … that no other node has; from now on it is taken. */
  next(base: string): string {
    let id = base;
    for (let count = 2; this.#taken.has(id); count++) id = `${base}-${count}`;
    this.#taken.add(id);
    return id;
  }

  /** An id for a value that was moved out of what names stand for; see `settle`. */
  nextSettled(base: string): string {
    const id = this.next(base);
    this.#settled.add(id);
    return id;
  }

  /** The ids of all such values. */
  get settled(): ReadonlySet<string> {
    return this.#settled;
  }
}

/** A key as a part of an id. */
export function idPart(key: string | number): string {
  return String(key).replace(/[^\p{ID_Continue}$-]/gu, '-');
}

/** The id that a step's own node is given in the options of its call, wherever in the initializer that stands. */
export function writtenId(initializer: ExpressionSyntax): string | undefined {
  const inner = unwrap(initializer);
  switch (inner.kind) {
    case 'conditional': {
      const side = onlySide(inner);
      return side && writtenId(side);
    }
    case 'binary':
      return inner.operator === '??' && makesSteps(inner.right) ? writtenId(inner.right) : undefined;
    case 'property':
    case 'element':
      return writtenId(inner.object);
    case 'call':
      return writtenIdOf(inner);
    default:
      return undefined;
  }
}

function writtenIdOf(call: CallSyntax): string | undefined {
  switch (stepVerbOf(call)) {
    case 'call': {
      const transform = optionOf(call, 'transform');
      // With a function by name as `transform`, the id is that of the node before.
      return transform === undefined || transform.kind === 'arrow' ? idIn(call) : undefined;
    }
    case 'run':
      return idIn(call);
    case 'attempt': {
      const [step, fallback] = call.args;
      const body = bodyOf(fallback);
      // Where other steps take over, the step stands inside of another node.
      const isInside = body !== undefined && makesSteps(body) && !endsAtOnce(body);
      return step === undefined || isInside || !isOneNode(step) ? undefined : writtenId(step);
    }
    case 'chain': {
      const body = bodyOf(call.args.at(-1));
      return body && writtenId(body);
    }
    default:
      return undefined;
  }
}

/** Every id that is written in the options of a call, however deep. */
export function writtenIds(initializer: ExpressionSyntax): readonly string[] {
  const own =
    initializer.kind === 'call' && stepVerbOf(initializer) !== undefined ? idIn(initializer) : undefined;
  return [...(own === undefined ? [] : [own]), ...partsOf(initializer).flatMap(writtenIds)];
}

function idIn(call: CallSyntax): string | undefined {
  const id = optionOf(call, 'id');
  return id?.kind === 'literal' && typeof id.value === 'string' ? id.value : undefined;
}
