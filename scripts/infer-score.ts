import { type Score, scoreFolder, sumOf } from './call-samples.js';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: npm run infer:score -- FOLDER');
  console.error('FOLDER has pairs of files: X-data.json, recorded calls, and X-spec.json, their tools.');
  process.exitCode = 2;
} else {
  const scores = scoreFolder(folder);
  for (const [name, score] of scores) console.log(`${name}: ${textOf(score)}`);
  console.log(`all: ${textOf(sumOf(scores.values()))}`);
}

function textOf({ samples, recorded, inferred, correct, cyclic }: Score): string {
  const share = (part: number, whole: number) => (whole === 0 ? 'none' : (part / whole).toFixed(3));
  return [
    `precision ${share(correct, inferred)} (${correct} of ${inferred})`,
    `recall ${share(correct, recorded)} (${correct} of ${recorded})`,
    `${cyclic} cyclic plans`,
    `${samples} samples`,
  ].join(', ');
}
