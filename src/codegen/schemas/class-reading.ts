import { fingerprint, fromMetadata } from '../../decorators/fingerprint.js';
import { readMetadata } from '../../decorators/metadata.js';
import { readJsonSchema } from './json-schema.js';
import type { ClassReading, ClassRequest } from './protocol.js';
import { texts } from './texts.js';

/**
 * Reads what the decorators of one exported class recorded.
 *
 * @param exports - the namespace of its module.
 * @param file - absolute path of the module.
 */
export function readClass(
  exports: Readonly<Record<string, unknown>>,
  { kind, exportName }: ClassRequest,
  file: string,
): ClassReading {
  const missing = (reason: string): ClassReading => ({ kind: 'missing', exportName, reason });
  const value = exports[exportName];
  if (typeof value !== 'function') return missing(texts.noClass(exportName));
  try {
    const metadata = readMetadata(value as abstract new (...deps: never[]) => object);
    if (metadata === undefined) return missing(texts.noMetadata);
    if (metadata.kind !== kind) return missing(texts.otherKind(metadata.kind, kind));
    const recorded = fingerprint(fromMetadata(metadata));
    switch (metadata.kind) {
      case 'tool': {
        const { input, output } = metadata.options;
        return {
          kind: 'tool',
          exportName,
          fingerprint: recorded,
          ...(input === undefined ? {} : { input: readJsonSchema(input, 'input', file) }),
          ...(output === undefined ? {} : { output: readJsonSchema(output, 'output', file) }),
        };
      }
      case 'resource':
        return { kind: 'resource', exportName, fingerprint: recorded };
      default:
        return metadata satisfies never;
    }
  } catch (error) {
    return missing(error instanceof Error ? error.message : String(error));
  }
}
