import { posix } from 'node:path';

/** Whether a registry has this path or short name: that of `examples/greeting/generated/greeting.registry.ts` is `greeting`. */
export function isNamed(file: string, name: string): boolean {
  return file === posix.normalize(name) || shortName(file) === name;
}

/** The name of a registry's file, up to its first dot. */
export function shortName(file: string): string {
  return posix.basename(file).replace(/\..*$/, '');
}
