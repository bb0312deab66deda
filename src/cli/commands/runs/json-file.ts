import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import { runsTexts } from '../../runs-texts.js';

/** The most bytes of a file that an option names. */
const MOST_BYTES = 10_000_000;

/**
 * Reads the JSON object in a file that an option names.
 *
 * @param example of what to write instead.
 */
export function readObject(
  option: string,
  file: string,
  example: string,
): { readonly value: JsonObject } | { readonly fault: string } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { fault: runsTexts.unreadableFile(option, file, code ?? message) };
  }
  if (text.length > MOST_BYTES)
    return { fault: runsTexts.unreadableFile(option, file, `it is longer than ${MOST_BYTES} bytes`) };
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? { value } : { fault: runsTexts.notObject(option, file, example) };
  } catch (error) {
    return { fault: runsTexts.notJson(option, file, (error as Error).message) };
  }
}
