import { fingerprint, fromMetadata } from '../../decorators/fingerprint.js';
import { readMetadata } from '../../decorators/metadata.js';
import { registryChecksum } from '../../decorators/registry-format.js';
import { type AnyClass, REGISTRY_VERSION, type Registry } from './registry.js';
import { texts } from './texts.js';

/** Thrown at start-up when the generated registry and the loaded classes disagree; lists every difference. */
export class StaleRegistryError extends Error {
  override readonly name = 'StaleRegistryError';

  constructor(readonly differences: readonly string[]) {
    super(texts.staleRegistry(differences));
  }
}

/**
 * Compares a generated registry with itself (version, checksum) and with what the decorators of its classes say now.
 * The checksum covers the graphs and their hashes, so that no graph is hashed here. Changed method bodies are not seen here: `stepwright codegen --check` sees them.
 * @throws StaleRegistryError with all differences and the command that repairs them.
 */
export function verifyRegistry(registry: Registry): void {
  // Nothing else can be read safely from a format this runtime does not know.
  if (registry.registryVersion !== REGISTRY_VERSION) {
    throw new StaleRegistryError([texts.staleVersion(registry.registryVersion, REGISTRY_VERSION)]);
  }
  const differences: string[] = [];
  if (registryChecksum(registry) !== registry.checksum) differences.push(texts.staleChecksum());
  for (const kind of ['tool', 'resource', 'workflow', 'prompt'] as const) {
    const entries: Readonly<Record<string, FingerprintedEntry>> = registry[`${kind}s`] ?? {};
    for (const [name, entry] of Object.entries(entries)) {
      const difference = entryDifference(kind, name, entry);
      if (difference !== undefined) differences.push(difference);
    }
  }
  if (differences.length > 0) throw new StaleRegistryError(differences);
}

interface FingerprintedEntry {
  readonly class: AnyClass;
  readonly fingerprint: string;
}

function entryDifference(kind: string, name: string, entry: FingerprintedEntry): string | undefined {
  try {
    const metadata = readMetadata(entry.class);
    if (metadata?.kind !== kind) return texts.undecoratedEntry(kind, name, entry.class.name);
    if (fingerprint(fromMetadata(metadata)) === entry.fingerprint) return undefined;
  } catch (error) {
    // A resource class that lost its `uri`.
    if (!(error instanceof TypeError)) throw error;
  }
  return texts.staleEntry(kind, name, entry.class.name);
}
