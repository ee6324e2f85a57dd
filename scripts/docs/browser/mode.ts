// Light or dark colours: as the reader chose, or as the system has them.

// Redoc keeps its mode under this name, so all pages agree.
const modeKey = 'redoc.colorMode';
const html = document.documentElement;

function applyMode(mode: string | null): void {
  const dark = mode ? mode === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  html.classList.toggle('dark', dark);
  html.classList.toggle('light', !dark);
  // The name that Swagger UI knows.
  html.classList.toggle('dark-mode', dark);
}

export function applyKeptMode(): void {
  let mode = null;
  try {
    mode = localStorage.getItem(modeKey);
  } catch {
    // Without storage the system decides.
  }
  applyMode(mode);
}

export function connectModeButton(button: HTMLElement): void {
  const show = () => {
    button.setAttribute('aria-pressed', String(html.classList.contains('dark')));
  };
  show();
  button.addEventListener('click', () => {
    const mode = html.classList.contains('dark') ? 'light' : 'dark';
    try {
      localStorage.setItem(modeKey, mode);
    } catch {
      // Without storage the mode holds for this page.
    }
    applyMode(mode);
    show();
  });
}
