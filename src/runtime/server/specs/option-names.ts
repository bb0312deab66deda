import { nearestName } from '../../../graph/names.js';
import type { Profile, RemoteSpecs, SpecSettings, SpecSources } from './spec-options.js';
import { specTexts } from './spec-texts.js';

/** The names of options. The types keep each of these tables complete. */
type Names<T> = Readonly<Record<keyof T, true>>;

const sources: Names<SpecSources> = { files: true, urls: true };
const settings: Names<SpecSettings> = { ...sources, root: true, watch: true, remote: true };
const remote: Names<RemoteSpecs> = { allow: true, allowAddresses: true, headers: true };
const profile: Names<Profile> = { specs: true, resources: true, hints: true, tools: true, workflows: true };

/**
 * Refuses options of `specs` and `profiles` that there are not: a misspelt one would be as if it were left out.
 *
 * @throws RangeError
 */
export function checkOptionNames(specs: SpecSettings, profiles: Readonly<Record<string, Profile>>): void {
  check('specs', specs, settings);
  check('specs.remote', specs.remote, remote);
  for (const [name, given] of Object.entries(profiles)) {
    check(`profiles.${name}`, given, profile);
    check(`profiles.${name}.specs`, given.specs, sources);
    check(`profiles.${name}.resources`, given.resources, sources);
  }
}

function check<T extends object>(where: string, given: T | undefined, names: Names<T>): void {
  const known = Object.keys(names);
  for (const option of Object.keys(given ?? {})) {
    if (!known.includes(option))
      throw new RangeError(specTexts.unknownOption(where, option, nearestName(option, known), known));
  }
}
