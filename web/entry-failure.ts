import { isServerThere, untilServerAnswers } from './navigation/server-wait.ts'

/*
 * Inlined into the pages of the app and of shared views: if the page's script cannot be loaded, says so in place of a white page, and reloads the page
 * once the server answers. Nothing can have been typed by then.
 */

/** Texts in the language of the build; filled in by the build. */
declare const CONNECTING: string
declare const UNREACHABLE: string
declare const LOAD_FAILED: string
declare const TRY_AGAIN: string

/** Tries after which the page says that the server cannot be reached. */
const PATIENT_TRIES = 4

/** Most reloads within a time: a script that is missing for good must not loop. */
const MAX_RELOADS = 3
const WITHIN_MS = 5 * 60_000
const KEY = 'sheaf.entryReloads'

// Of our scripts only that of the page is in an element: parts of the app are imported. Extensions add others at any time.
addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLScriptElement && target.src.startsWith(`${location.origin}/assets/`))
      void recover()
  },
  { capture: true },
)

async function recover(): Promise<void> {
  if (document.readyState === 'loading')
    await new Promise((resolve) => addEventListener('DOMContentLoaded', resolve, { once: true }))
  const isThere = await isServerThere()
  if (!isThere) {
    show(CONNECTING)
    await untilServerAnswers((tries) => tries >= PATIENT_TRIES && show(UNREACHABLE, true))
  }
  if (mayReload()) location.reload()
  else show(LOAD_FAILED, true)
}

/** False after too many reloads, or where they cannot be counted. */
function mayReload(): boolean {
  try {
    const now = Date.now()
    const times = (sessionStorage.getItem(KEY) ?? '').split(',').map(Number)
    const recent = times.filter((time) => now - time < WITHIN_MS)
    if (recent.length >= MAX_RELOADS) return false
    sessionStorage.setItem(KEY, [...recent, now].join(','))
    return true
  } catch {
    return false
  }
}

function show(text: string, hasButton = false): void {
  const box = document.createElement('div')
  box.setAttribute('role', 'status')
  box.style.cssText = 'padding:20vh 16px;text-align:center;font:16px system-ui,sans-serif'
  const line = document.createElement('p')
  line.textContent = text
  box.append(line)
  if (hasButton) {
    const button = document.createElement('button')
    button.textContent = TRY_AGAIN
    button.style.cssText = 'margin:16px;padding:8px 16px;font:inherit'
    button.onclick = () => location.reload()
    box.append(button)
  }
  document.getElementById('root')?.replaceChildren(box)
}
