/** Settings stored in this browser (spec §3, local settings, and the shell's state). */
export type SettingName =
  | 'token'
  // `true` after a sign-out that the server has not been told about
  | 'unsentSignOut'
  | 'lang'
  | 'continueAfterSignIn'
  | 'lastPlaces'
  | 'recentViews'
  | 'sidebarWidth'
  | 'sidebarCollapsed'
  | 'expandedTables'
  | 'reloadedAt'
  | 'filterAutoSave'
  // Other features keep theirs under a name that begins with the feature: `grid.…`
  | `${string}.${string}`

const PREFIX = 'sheaf.'

/** In a browser that forbids storage the settings last as long as the page. */
const memory = new Map<string, string>()

/** Settings by name, as text. Storage that is full or forbidden never breaks the page. */
export const localSettings = {
  get(name: SettingName): string | null {
    return attempt(() => localStorage.getItem(PREFIX + name)) ?? memory.get(name) ?? null
  },

  set(name: SettingName, value: string): void {
    memory.set(name, value)
    attempt(() => localStorage.setItem(PREFIX + name, value))
  },

  remove(name: SettingName): void {
    memory.delete(name)
    attempt(() => localStorage.removeItem(PREFIX + name))
  },

  /** Calls back when another tab changes the setting; null: it was removed there. */
  onChangeElsewhere(name: SettingName, listener: (value: string | null) => void): () => void {
    const onStorage = (event: StorageEvent) => {
      // A null key means that the other tab cleared everything.
      if (event.key !== PREFIX + name && event.key !== null) return
      if (event.newValue === null) memory.delete(name)
      else memory.set(name, event.newValue)
      listener(event.newValue)
    }
    window.addEventListener('storage', onStorage)
    return () => window.removeEventListener('storage', onStorage)
  },
}

/** A JSON setting; `fallback` where it is absent or was written by another version. */
export function readJsonSetting<T>(
  name: SettingName,
  fallback: T,
  isShape: (value: unknown) => value is T,
): T {
  const text = localSettings.get(name)
  if (text === null) return fallback
  try {
    const value: unknown = JSON.parse(text)
    return isShape(value) ? value : fallback
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fallback
  }
}

function attempt<T>(access: () => T): T | null {
  try {
    return access()
  } catch (error) {
    // SecurityError: storage is blocked; QuotaExceededError: it is full. The memory copy serves.
    if (error instanceof DOMException) return null
    throw error
  }
}
