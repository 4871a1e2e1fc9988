import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { localSettings } from '../../../session/local-settings.ts'

/** True if changes of filters, sorts and groups are saved immediately: a setting of this browser (spec §3). */
export const filterAutoSave = (): boolean => localSettings.get('filterAutoSave') !== 'false'

const setting = createStore(filterAutoSave)
localSettings.onChangeElsewhere('filterAutoSave', () => setting.setState(filterAutoSave()))

/** Turns automatic saving of filters, sorts and groups on or off. */
export function setFilterAutoSave(on: boolean): void {
  localSettings.set('filterAutoSave', String(on))
  setting.setState(filterAutoSave())
}

/** The setting; re-renders the component on changes. */
export const useFilterAutoSave = (): boolean => useStore(setting)
