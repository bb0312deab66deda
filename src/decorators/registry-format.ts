import { canonicalJson, sha256Hex } from '../graph/canonical.js';
import type { Value } from '../graph/json.js';

/** The format of `generated/registry.ts`: codegen writes it, the runtime refuses a registry of another one. */
export const REGISTRY_VERSION = 1;

/** The tables of a registry, by name; codegen's have no classes and no functions yet. */
export interface RegistryTables {
  readonly tools: Readonly<Record<string, object>>;
  readonly resources: Readonly<Record<string, object>>;
  readonly workflows: Readonly<Record<string, object>>;
  readonly prompts?: Readonly<Record<string, object>>;
  readonly functions?: Readonly<Record<string, object>>;
}

/**
 * sha256 (64 hexadecimal digits) of the canonical JSON of the tables, `class` and `function` of each entry left out.
 * A table that is left out counts as an empty one.
 */
export function registryChecksum(tables: RegistryTables): string {
  const { tools, resources, workflows, prompts = {}, functions = {} } = tables;
  const parts = {
    tools: withoutCode(tools),
    resources: withoutCode(resources),
    workflows: withoutCode(workflows),
    // A registry without them has the checksum it had before there were any.
    ...(Object.keys(prompts).length === 0 ? {} : { prompts: withoutCode(prompts) }),
    ...(Object.keys(functions).length === 0 ? {} : { functions: withoutCode(functions) }),
  };
  return sha256Hex(canonicalJson(parts as Value));
}

function withoutCode(table: Readonly<Record<string, object>>): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, entry]) => {
      const { class: _class, function: _function, ...rest } = entry as Readonly<Record<string, unknown>>;
      return [name, rest];
    }),
  );
}
