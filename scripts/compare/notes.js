import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const FILE = 'notes.json';

const all = () =>
  existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : ['Buy bread', 'Old: mend the fence'];

/** The notes that contain a word. */
export const find = (word) => all().filter((note) => note.toLowerCase().includes(word.toLowerCase()));

/** Removes notes, and says how many there were. */
export function remove(notes) {
  const before = all();
  const after = before.filter((note) => !notes.includes(note));
  writeFileSync(FILE, JSON.stringify(after));
  return before.length - after.length;
}
