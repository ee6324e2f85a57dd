// `payments --settings FILE …`: the settings of a service that systemd runs, for its operator. Not `--env-file`: Node 20 and 22
// take that for an option of their own, also after the name of the script.
import { loadSettings } from '../config.ts';
import { WrongCall } from './output.ts';

export const settingsOption = [
  '--settings <file>',
  'read variables that are not set from this file; by default the one that PAYMENTS_SETTINGS names',
] as const;

/**
 * Removes the option from the arguments, so that they begin with the command, also for the audit trail. The last one counts,
 * because an alias may have one, too.
 */
export function takeSettingsFile(argv: string[]): { load: () => void } {
  let file: string | undefined;
  for (;;) {
    const end = argv.indexOf('--');
    const at = argv.findIndex((word) => /^--settings(?:=|$)/.test(word));
    if (at === -1 || (end !== -1 && end < at)) break;
    const [, joined] = /=(.*)$/s.exec(argv[at] ?? '') ?? [];
    const [, next = ''] = argv.splice(at, joined === undefined ? 2 : 1);
    file = joined ?? next;
  }
  return {
    load: () => {
      if (file === '') throw new WrongCall('--settings needs the path of a file.');
      loadSettings(file);
    },
  };
}
