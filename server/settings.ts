// Every setting of the service, in one table: those of the kit and those of the domain. config.ts reads it; messages,
// `npm start -- --help`, the NAME_FILE variants and the table in docs/settings.md come from it.
import { settings as ownSettings } from './domain.ts';
import { kitSettings, type Setting } from './kit/settings.ts';

export const settings = { ...kitSettings, ...ownSettings };

type Settings = typeof settings;
export type SettingName = keyof Settings;
type Parsed<Name extends SettingName> = NonNullable<ReturnType<Settings[Name]['parse']>>;

export type Values = {
  [Name in SettingName]: Settings[Name] extends { default: string } ? Parsed<Name> : Parsed<Name> | undefined;
};

export const secretNames = ['CARD_KEY', 'CURSOR_KEY'] as const satisfies SettingName[];
export type SecretName = (typeof secretNames)[number];

export const rows = Object.entries(settings) as readonly [SettingName, Setting][];

export const fileNameOf = (name: string): string => `${name}_FILE`;
export const namesWithFiles = rows.filter(([, { isSecret }]) => isSecret).map(([name]) => name);

/** For messages: the operator looks for the one of both that is set. */
export const orFile = (name: SettingName): string =>
  namesWithFiles.includes(name) ? `${name} (or ${fileNameOf(name)})` : name;

export const settingsHelp = (): string =>
  rows
    .map(([name, { doc, format, default: text, unset = '', isSecret }]) => {
      const file = isSecret ? `, or ${fileNameOf(name)} with the path of a file` : '';
      const otherwise = text === undefined ? `unset: ${unset}` : `default: ${text}`;
      return `  ${name}${file}: ${doc}\n      ${format}\n      ${otherwise}`;
    })
    .join('\n');
