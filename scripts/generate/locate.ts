// Turns a JSON pointer into a line number, for messages about a faulty contract. The YAML parser is used because it records
// positions; JSON is valid YAML.
import { LineCounter, parseDocument } from 'yaml';
import type { Contract } from '../../server/contract/load.ts';

export function locate(contract: Contract, pointer: string): string {
  const lines = new LineCounter();
  const document = parseDocument(contract.text, { lineCounter: lines });
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true) as
      { range?: [number, number, number] } | undefined;
    if (node?.range) return `${contract.file}:${lines.linePos(node.range[0]).line} (#${pointer})`;
  }
  return `${contract.file}:1 (#${pointer})`;
}
