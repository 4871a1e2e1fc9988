import { useSyncExternalStore } from 'react'
import { localSettings } from '../../session/local-settings.ts'

const listeners = new Set<() => void>()

/** True where filters, sorts and groups are saved as one makes them: a setting of this browser (spec §3). */
export const filterAutoSave = (): boolean => localSettings.get('filterAutoSave') !== 'false'

/** Turns the saving of filters, sorts and groups on or off. */
export function setFilterAutoSave(on: boolean): void {
  localSettings.set('filterAutoSave', String(on))
  for (const listener of listeners) listener()
}

/** The setting; the component draws again when it changes. */
export const useFilterAutoSave = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    const stop = localSettings.onChangeElsewhere('filterAutoSave', listener)
    return () => {
      listeners.delete(listener)
      stop()
    }
  }, filterAutoSave)
