// Every way to break a consumer is tried on a copy of the contract. All edits of one expected rating go into one copy, as
// each comparison costs a second; each names the place (`at`) where its change must be found.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pointerOf, type Change } from '../../scripts/diff/change.ts';
import { bundle, compare } from '../../scripts/diff/compare.ts';
import { rate, type Rating } from '../../scripts/diff/impact.ts';
import { contractLines, judge } from '../../scripts/diff/judge.ts';
import { asText, linesOf, type Line } from '../../scripts/diff/report.ts';
import { root } from '../../scripts/support/redocly.ts';

// A contract as edits see it: any step may be taken, and a wrong one fails loudly.
interface Node {
  [key: string]: Node & string & number & boolean & Node[] & string[];
}
type Edit = [promise: string, at: string, edit: (contract: Node) => void];

const schema = (contract: Node, name: string) => contract.components!.schemas![name]!;
const field = (contract: Node, name: string, property: string) => schema(contract, name).properties![property]!;
const parameter = (contract: Node, name: string) => contract.components!.parameters![name]!;
const operation = (contract: Node, method: string, path: string) => contract.paths![path]![method]!;
const set = (node: Node, values: object) => void Object.assign(node, values);
