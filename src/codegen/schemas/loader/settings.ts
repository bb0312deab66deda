/** How the author's modules are loaded, by the compiler options of the project. */
export interface LoaderSettings {
  /** Legacy decorators when true, TC39 ones otherwise. */
  readonly experimentalDecorators: boolean;
  /** `paths`, and `baseUrl` as the last of them; targets are absolute. Default: none. */
  readonly paths?: Readonly<Record<string, readonly string[]>>;
  /** `customConditions`: of the `exports` and `imports` of packages, beside those of Node.js. Default: none. */
  readonly conditions?: readonly string[];
}

/**
 * The absolute paths, in their order, that a specifier may mean by `paths`: those of the pattern that is the specifier,
 * else of the one with the longest beginning. Whether anything is there is not looked at.
 */
export function aliasedPaths(specifier: string, { paths = {} }: LoaderSettings): readonly string[] {
  if (/^(?:\.{0,2}\/|\.{1,2}$|\w{2,}:)/.test(specifier)) return [];
  const own = Object.hasOwn(paths, specifier) ? paths[specifier] : undefined;
  if (own !== undefined) return own;
  const [pattern] = Object.keys(paths)
    .filter((each) => isMatch(each, specifier))
    .sort((a, b) => b.indexOf('*') - a.indexOf('*'));
  if (pattern === undefined) return [];
  const [head = '', tail = ''] = pattern.split('*');
  const matched = specifier.slice(head.length, specifier.length - tail.length);
  return (paths[pattern] ?? []).map((target) => target.replace('*', () => matched));
}

function isMatch(pattern: string, specifier: string): boolean {
  const [head = '', tail] = pattern.split('*');
  if (tail === undefined || specifier.length < head.length + tail.length) return false;
  return specifier.startsWith(head) && specifier.endsWith(tail);
}
