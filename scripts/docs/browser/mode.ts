// Light or dark colours: as the reader chose, or as the system has them.
import { remember, remembered } from './kept.ts';

// Redoc keeps its mode under this name, so all pages agree.
const modeKey = 'redoc.colorMode';
const html = document.documentElement;

function applyMode(mode: string | null): void {
  const dark = mode ? mode === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  html.classList.toggle('dark', dark);
  html.classList.toggle('light', !dark);
}

export function applyKeptMode(): void {
  applyMode(remembered(modeKey));
}

export function connectModeButton(button: HTMLElement): void {
  const show = () => {
    button.setAttribute('aria-pressed', String(html.classList.contains('dark')));
  };
  show();
  button.addEventListener('click', () => {
    const mode = html.classList.contains('dark') ? 'light' : 'dark';
    remember(modeKey, mode);
    applyMode(mode);
    show();
  });
}
