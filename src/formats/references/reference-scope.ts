import type { RefRoot } from '../../graph/expression/tree.js';

/** The meaning of a name behind `$`. */
export type Resolution =
  /** A value of the graph. `taken` counts the keys behind the name that the reference has used already. */
  | {
      readonly kind: 'value';
      readonly root: RefRoot;
      readonly path: readonly [string, ...(string | number)[]];
      readonly taken: number;
    }
  /** The result of whichever of these nodes has run. */
  | { readonly kind: 'either'; readonly nodes: readonly string[] }
  /** `name` is what is not known, if it is more than the name behind `$`. */
  | { readonly kind: 'unknown'; readonly name?: string; readonly suggestion?: string | undefined }
  /** A name that has no value at this place. */
  | { readonly kind: 'withoutValue'; readonly why: string };

/** The names that a text may refer to. */
export interface ReferenceScope {
  /** @param keys the keys behind the name. */
  resolve(name: string, keys: readonly (string | number)[]): Resolution;
}
