import { useEffect, useState, useSyncExternalStore } from 'react'
import { onChange, onReconnect } from '../../../../socket.ts'
import { recordsApi } from '../../../records/api.ts'
import type { StoreQuery } from '../../../records/store/types.ts'
import { createPlaces, type Places, type PlacesState } from './places.ts'

/** All records of a view with their places, while its map is on the screen. */
export function usePlaces(
  tableId: string,
  query: StoreQuery,
  geoFieldId: string | null,
): { places: Places; state: PlacesState } {
  const [places] = useState(() => createPlaces({ tableId, api: recordsApi }))
  useEffect(() => {
    const stops = [onChange((change) => void places.receive(change)), onReconnect(places.reloadSoon)]
    return () => {
      for (const stop of stops) stop()
      places.stop()
    }
  }, [places])
  useEffect(() => {
    if (geoFieldId !== null) places.setQuery(query, geoFieldId)
  }, [places, query, geoFieldId])
  return { places, state: useSyncExternalStore(places.subscribe, places.state) }
}
