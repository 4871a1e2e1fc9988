import { localSettings, readJsonSetting } from './local-settings.ts'

/** Last location in each base, latest first. */
interface LastPlace {
  baseId: string
  tableId?: string
  viewId?: string
}

const MAX_PLACES = 12

const isPlaces = (value: unknown): value is LastPlace[] =>
  Array.isArray(value) && value.every((one) => typeof one?.baseId === 'string')

/** The bases last visited in this browser, each with its last table, the latest first. */
export const lastPlaces = (): LastPlace[] => readJsonSetting('lastPlaces', [], isPlaces)

/** The last table visited in a base, or null. */
export const lastPlaceIn = (baseId: string): LastPlace | null =>
  lastPlaces().find((place) => place.baseId === baseId) ?? null

/** Remembers a visit. A visit to the base alone keeps its last table. */
export function rememberPlace(place: LastPlace): void {
  const others = lastPlaces().filter(({ baseId }) => baseId !== place.baseId)
  const kept = place.tableId ? place : (lastPlaceIn(place.baseId) ?? place)
  localSettings.set('lastPlaces', JSON.stringify([kept, ...others].slice(0, MAX_PLACES)))
}

/** Forgets a deleted base, or only its deleted table. */
export function forgetPlace({ baseId, tableId }: LastPlace): void {
  const places = lastPlaces().flatMap((place) => {
    if (place.baseId !== baseId) return [place]
    if (!tableId) return []
    return [place.tableId === tableId ? { baseId } : place]
  })
  localSettings.set('lastPlaces', JSON.stringify(places))
}
