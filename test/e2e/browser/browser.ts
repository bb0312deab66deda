import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Starts the browser that `CHROME_PATH` or `PATH` has. Where there is none, stderr says so, and CI fails: `.ci/run`
 * installs one.
 */
export async function startBrowser(): Promise<Browser | undefined> {
  const executablePath = findBrowser();
  if (executablePath !== undefined)
    return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const text = 'NOT CHECKED: pages in a browser. Install chromium, or name a browser with CHROME_PATH.';
  if (process.env.CI !== undefined) throw new Error(text);
  process.stderr.write(`${text}\n`);
  return undefined;
}

function findBrowser(): string | undefined {
  const { CHROME_PATH, PATH = '' } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const files = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...(CHROME_PATH === undefined ? [] : [CHROME_PATH]), ...files].find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
