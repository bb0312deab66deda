export function find(word: string): string[];
export function remove(notes: readonly string[]): number;
