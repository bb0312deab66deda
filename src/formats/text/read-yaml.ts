import type { TextLimits } from './limits.js';
import type { SourceText } from './located.js';
import { readPlainYaml } from './read-plain-yaml.js';
import { type ReadText, Reports } from './reading.js';
import { scanYaml } from './scan-yaml.js';

/** Reads YAML 1.2 (core schema), strictly. The parser is loaded with the first text that is not written plainly. */
export async function readYaml(source: SourceText, limits: TextLimits): Promise<ReadText> {
  const refusal = scanYaml(source.text, limits);
  if (refusal !== undefined) {
    const reports = new Reports(source);
    reports.refuse(refusal);
    return { diagnostics: reports.diagnostics };
  }
  return readPlainYaml(source) ?? (await import('./parse-yaml.js')).parseYaml(source, limits);
}
