// A line of a settings file that sets nothing is named, and takes no other setting with it.
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../server/kit/settings-file.ts';

describe('a settings file', () => {
  it('has the lines NAME=value, with comments, quotes and export', () => {
    const text = `# a comment\n\n A = 1 # one\r\nexport B='2 # two'\nC="three\nNo: four"\nD=\`x\`\nE=\nF=a=b`;
    expect(parseSettings(text)).toEqual({
      odd: [],
      variables: { A: '1', B: '2 # two', C: 'three\nNo: four', D: 'x', E: '', F: 'a=b' },
    });
  });

  it.each(['DATABASE_POOLER: transaction', 'DATABASE_POOLER transaction', '[Service]', 'A B=1\r'])(
    'in which a line is %j loses no other, wherever that line is',
    (line) => {
      const variables = { A: '1', B: '2' };
      expect(parseSettings(`A=1\n${line}\nB=2\n`)).toEqual({ odd: [2], variables });
      expect(parseSettings(`${line}\nA=1\nB=2`)).toEqual({ odd: [1], variables });
      expect(parseSettings(`A=1\nB=2\n${line}`)).toEqual({ odd: [3], variables });
    },
  );

  it('with a quote that never ends is read as by Node', () => {
    expect(parseSettings(`A='1\nB=2`)).toMatchObject({ odd: [], variables: { B: '2' } });
  });
});
