// What `npm run dev` shows: the state of now, and nothing of the states before it.
import { styleText } from 'node:util';

export interface State {
  /** Empty if there are none. */
  problems: string;
  /** How long after the save: until it was linted, and until all of it was served. */
  linted?: number;
  updated?: number | undefined;
  /** The first errors of the compiler. Empty if there are none, and undefined until it has checked the types. */
  types?: string | undefined;
  /** The files that were generated since the save. */
  wrote?: string[];
  /** How many places `npm run new` has left to describe. */
  unfinished?: number;
  /** Name, and its URL or why it has none. */
  served: [name: string, where: string][];
}

const clear = '\x1b[2J\x1b[3J\x1b[H';

export function show(state: State): void {
  const { isTTY } = process.stdout;
  process.stdout.write(`${isTTY ? clear : '\n'}${asText(state, isTTY)}\n`);
}

/** Those in generated/ are counted, because nobody edits them; a new stub is named, because somebody has to. */
function summaryOf(files: string[]): string {
  const others = files.filter((file) => !file.startsWith('generated/'));
  const generated = files.length - others.length;
  const counted = `generated/ (${generated} ${generated === 1 ? 'file' : 'files'})`;
  return [...(generated > 0 ? [counted] : []), ...others].join(', ');
}

function asText(state: State, colour: boolean): string {
  const { problems, linted = 0, updated, types, wrote = [], unfinished = 0, served } = state;
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const time = new Date().toTimeString().slice(0, 8);
  const took = updated === undefined || problems !== '' ? '' : `, served after ${updated.toFixed(1)} s`;
  const times = paint('dim', `(checked after ${linted.toFixed(1)} s${took}, at ${time})`);
  const head = () => {
    if (problems !== '')
      return `${problems}\n\n${paint('red', '✗')} The last state without problems is still served. ${times}`;
    if (types === undefined) return `0 problems in the contract ${times}`;
    return types === ''
      ? `${paint('green', '✓')} 0 problems in the contract, and the code compiles ${times}`
      : `${types}\n\n${paint('red', '✗')} The code does not compile. It is served as it is. ${times}`;
  };
  const places = `${unfinished} unfinished ${unfinished === 1 ? 'place' : 'places'}: npm run lint -- --contract`;
  const lines: State['served'] = [
    ...served,
    ...(wrote.length > 0 ? [['Wrote', summaryOf(wrote)] as [string, string]] : []),
    ...(unfinished > 0 ? [['To do', places] as [string, string]] : []),
  ];
  const rows = lines.map(([name, where]) => `  ${name.padEnd(8)}${where.replaceAll('\n', '\n          ')}`);
  const note = () => {
    if (updated === undefined) return 'Updating …';
    if (problems === '' && types === undefined) return 'Checking the types …';
    return 'Waiting for changes in openapi/, docs/, server/, client/, mock/ and testing/. Stop with Ctrl+C.';
  };
  return [head(), '', ...rows, '', paint('dim', note())].join('\n');
}
