/** Where a part of a template is written: offsets into it. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A part of a template. */
export type Block = Place &
  (
    | { readonly kind: 'data'; readonly text: string }
    | { readonly kind: 'output'; readonly value: Syntax }
    | {
        readonly kind: 'if';
        readonly cases: readonly { readonly test: Syntax; readonly body: readonly Block[] }[];
        readonly otherwise: readonly Block[];
      }
    | {
        readonly kind: 'for';
        readonly names: readonly Name[];
        readonly items: Syntax;
        readonly test: Syntax | undefined;
        readonly body: readonly Block[];
        readonly otherwise: readonly Block[];
      }
    | { readonly kind: 'set'; readonly names: readonly Name[]; readonly value: Syntax | readonly Block[] }
    | {
        readonly kind: 'with';
        readonly bindings: readonly { readonly name: Name; readonly value: Syntax }[];
        readonly body: readonly Block[];
      }
    | { readonly kind: 'filter'; readonly filters: readonly Applied[]; readonly body: readonly Block[] }
  );

export interface Name extends Place {
  readonly name: string;
}

/** A filter or test with its arguments. */
export interface Applied extends Name {
  readonly args: readonly Syntax[];
  readonly named: readonly { readonly name: Name; readonly value: Syntax }[];
}

export type Syntax = Place &
  (
    | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
    | { readonly kind: 'float'; readonly value: number }
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'list'; readonly items: readonly Syntax[] }
    | { readonly kind: 'dict'; readonly entries: readonly { readonly key: Syntax; readonly value: Syntax }[] }
    | { readonly kind: 'item'; readonly of: Syntax; readonly key: Syntax }
    | { readonly kind: 'attribute'; readonly of: Syntax; readonly name: Name }
    | { readonly kind: 'slice'; readonly of: Syntax; readonly bounds: readonly (Syntax | undefined)[] }
    | ({ readonly kind: 'call'; readonly of: Syntax } & Pick<Applied, 'args' | 'named'>)
    | { readonly kind: 'filter'; readonly of: Syntax; readonly filter: Applied }
    | { readonly kind: 'test'; readonly of: Syntax; readonly test: Applied; readonly isNot: boolean }
    | { readonly kind: 'binary'; readonly op: string; readonly left: Syntax; readonly right: Syntax }
    | {
        readonly kind: 'compare';
        readonly left: Syntax;
        readonly ops: readonly { readonly op: string; readonly right: Syntax }[];
      }
    | { readonly kind: 'not' | 'negate' | 'plus'; readonly of: Syntax }
    | {
        readonly kind: 'conditional';
        readonly test: Syntax;
        readonly then: Syntax;
        readonly otherwise: Syntax | undefined;
      }
  );
