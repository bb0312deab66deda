import { canonicalJson, sha256Hex } from '../graph/canonical.js';
import type { Value } from '../graph/json.js';

/** The format of `generated/registry.ts`: codegen writes it, the runtime refuses a registry of another one. */
export const REGISTRY_VERSION = 1;

/** The tables of a registry, by name; codegen's have no classes yet. */
export interface RegistryTables {
  readonly tools: Readonly<Record<string, object>>;
  readonly resources: Readonly<Record<string, object>>;
  readonly workflows: Readonly<Record<string, object>>;
}

/** sha256 (64 hexadecimal digits) of the canonical JSON of the tables, `class` of each entry left out. */
export function registryChecksum({ tools, resources, workflows }: RegistryTables): string {
  const parts = {
    tools: withoutClasses(tools),
    resources: withoutClasses(resources),
    workflows: withoutClasses(workflows),
  };
  return sha256Hex(canonicalJson(parts as Value));
}

function withoutClasses(table: Readonly<Record<string, object>>): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, entry]) => {
      const { class: _class, ...rest } = entry as Readonly<Record<string, unknown>>;
      return [name, rest];
    }),
  );
}
